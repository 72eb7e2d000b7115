"""Compares a benchmark file with the kernel: its arguments, and the values of macros that are its defaults.

Needs the front end, and so clang.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.frontend.lower import compile_source, lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.hashed_text import hashed_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    Description,
    ImageDescription,
    LocalDescription,
    SamplerDescription,
    ScalarDescription,
)
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.tuning.workload.argument_use import (
    declared_type,
    fields_of,
    image_kind,
    image_use,
    is_writable,
    kind_of,
    numbers_of,
    parameter_type,
    structure_of,
)
from coarsen.tuning.workload.element_types import Structure


def check_kernel_of(path: Path) -> None:
    """Lower the kernel that a file names and compare its parameters with the file's arguments.

    Raises:
        InvalidInputError: a mistake in the file or in the kernel, or they don't go together; the default values of
            macros aren't those that the kernel's file has by itself.
        RefusalError: the kernel calls itself.
    """
    description = read_description(path)
    definitions = [f"-D{name}={value}" for name, value in description.defaults]
    folder = f"-I{description.kernel_file.parent}"
    options = [*description.build_options, *definitions, *([folder] if description.parameters.source else [])]
    unit = compile_source(description.code, options)
    lowered = [lower(unit, kernel) for kernel in (description.kernel, *description.other_kernels)]
    for kernel in lowered:
        _check_signature(description, kernel)
    if definitions:
        _check_defaults(description, lowered)


def _check_defaults(description: Description, lowered: Sequence[Kernel]) -> None:
    """Check that the version of all defaults is what the file builds by itself: all others are compared with it.

    A file that doesn't compile without `-D` has nothing that could be another one.

    Args:
        description: of the kernel.
        lowered: its kernels, compiled with the defaults.

    Raises:
        InvalidInputError: it builds another kernel.
    """
    try:
        plain = compile_source(description.kernel_file, [*description.build_options, *_fixed(description)])
        own = [lower(plain, kernel.name) for kernel in lowered]
    except CoarsenError:
        return
    if [_normal_form(kernel) for kernel in own] != [_normal_form(kernel) for kernel in lowered]:
        defaults = ", ".join(f"{name} = {value}" for name, value in description.defaults)
        raise InvalidInputError(
            f"{description.path}: {description.kernel_file.name} without -D is another kernel than with the "
            f"defaults, {defaults}, which versions are compared with: have the #defines and the defaults agree"
        )


def _fixed(description: Description) -> Iterator[str]:
    """Yield the options of macros of one value, which is a choice like any build option."""
    for name, values in description.tunables.items():
        if len(values) == 1 and name not in description.parameters.values:
            yield f"-D{name}={values[0]}"


def _normal_form(kernel: Kernel) -> str:
    return hashed_text(module_text(kernel.graph))


def _check_signature(description: Description, kernel: Kernel) -> None:
    """Compare the arguments of a launch with a kernel's parameters: number, names, kinds, types."""
    arguments = description.arguments_of(kernel.name)
    wanted, given = len(kernel.arguments), len(arguments)
    if wanted != given:
        names = ", ".join(argument.name for argument in kernel.arguments)
        raise InvalidInputError(
            f"{description.path}: arguments: there are {given}; the kernel '{kernel.name}' has {wanted}: {names}"
        )
    places = {argument.name: index for index, argument in enumerate(description.arguments)}
    for argument, parameter in zip(arguments, kernel.arguments, strict=True):
        # A scratch buffer has a name for all launches, and so have the buffers that several kernels take.
        is_own = kernel.name == description.kernel
        problem = _difference(kernel, argument, parameter, argument.name in description.outputs, is_own)
        if problem is not None:
            raise InvalidInputError(f"{description.path}: arguments[{places[argument.name]}]: {problem}")


def _difference(
    kernel: Kernel, argument: ArgumentDescription, parameter: Argument, is_output: bool, is_own: bool
) -> str | None:
    if is_own and argument.name != parameter.name:
        return f"the kernel's parameter there is '{parameter.name}', not '{argument.name}'"
    given, wanted = _kind(argument), kind_of(parameter)
    if wanted is None:
        return f"'{parameter.name}' is of type {parameter.type_name}, which a benchmark can't have"
    if given != wanted:
        return f"'{parameter.name}' is a parameter of the kind {wanted} in the kernel, not {given}"
    if isinstance(argument, ImageDescription):
        return _difference_of_image(kernel, argument, parameter, is_output)
    if isinstance(argument, SamplerDescription):
        return None
    declared = declared_type(parameter)
    if declared is not None and declared != argument.type:
        return f"'{parameter.name}' is of type {declared.name} in the kernel, not {argument.type.name}"
    if argument.type.structure is not None:
        other = _structure_difference(kernel, parameter, argument.type.structure)
        return f"'{parameter.name}': {other}" if other is not None else None
    needed = parameter_type(kernel, parameter).byte_count
    if given == "scalar" and argument.type.byte_count != needed:
        return f"'{parameter.name}' has {needed} bytes in the kernel, not {argument.type.byte_count}"
    return None


def _difference_of_image(
    kernel: Kernel, argument: ImageDescription, parameter: Argument, is_output: bool
) -> str | None:
    kind = image_kind(parameter)
    if kind != argument.format.kind:
        return f"'{parameter.name}' is an {kind} in the kernel, not an {argument.format.kind}"
    if is_output and not is_writable(parameter):
        return f"'{parameter.name}' is an output, and the kernel only reads it"
    other = image_use(kernel, parameter).mismatch(argument.format)
    if other is not None:
        return f"'{parameter.name}' is accessed by {other}, not for images of {argument.format.channel_type}"
    return None


def _kind(argument: ArgumentDescription) -> str:
    if isinstance(argument, ImageDescription):
        return "image"
    if isinstance(argument, SamplerDescription):
        return "sampler"
    if isinstance(argument, ScalarDescription):
        return "scalar"
    return "local" if isinstance(argument, LocalDescription) else "buffer"


def _structure_difference(kernel: Kernel, parameter: Argument, described: Structure) -> str | None:
    """In what a structure differs from a parameter's; None where nothing does, as far as can be told.

    Names of fields and the sign of integers aren't in the kernel's code.
    """
    own = structure_of(kernel, parameter)
    if own is None:
        return None
    wanted, given = fields_of(kernel, own), described.dtype
    if wanted.itemsize != given.itemsize:
        return f"{described.name} has {given.itemsize} bytes, and {wanted.itemsize} in the kernel"
    known, said = _numbers(wanted), _numbers(given)
    end = max((place + size for place, (_, size) in known.items()), default=0)
    # Bytes of which the front end does not know what they mean are unsigned; integers that it knows are signed.
    unknown = {place for place, number in numbers_of(wanted) if number == np.uint8}
    for place in sorted({*known, *said} - unknown):
        number, found = said.get(place), known.get(place)
        # Last bytes that the kernel doesn't address look like padding.
        if number is None or found is None:
            is_open = number is not None and (
                {*range(place, place + number[1])} <= unknown or (number[1] == 1 and place >= end)
            )
        else:
            is_open = (number[1], number[0] == _FLOAT) == (found[1], found[0] == _FLOAT)
        if not is_open:
            has = f"{number[0]} of {number[1]} bytes" if number else "nothing"
            own_number = f"{found[0]} of {found[1]} bytes" if found else "no number that begins there"
            return f"{described.name} has {has} at byte {place}, and the kernel {own_number}"
    return None


_FLOAT = "a floating-point number"
_KINDS = {"f": _FLOAT, "i": "an integer", "u": "an integer"}


def _numbers(kind: np.dtype[Any]) -> dict[int, tuple[str, int]]:
    """The numbers of a structure: what each is and its size in bytes, by its place."""
    return {place: (_KINDS.get(each.kind, "something else"), each.itemsize) for place, each in numbers_of(kind)}
