"""Writes the TOML file of a kernel's benchmark from the kernel's parameters, for a person to complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace
from coarsen.opencl_bench.workloads.described.element_types import ElementType, element_type
from coarsen.opencl_bench.workloads.described.guess import (
    LaunchGuess,
    guess_launch,
    guess_outputs,
    guess_scalar,
    guess_values,
)
from coarsen.opencl_bench.workloads.described.image_use import image_kind, image_use, is_readable
from coarsen.opencl_bench.workloads.described.index_use import IndexUse, index_uses
from coarsen.opencl_bench.workloads.described.parameter_types import declared_type, kind_of, parameter_type
from coarsen.opencl_bench.workloads.described.pointer_use import PointerUse, pointer_uses
from coarsen.opencl_bench.workloads.described.roundings import UNKNOWN_TRIPS, rounding_steps, rounds_to_integers
from coarsen.opencl_bench.workloads.described.toml_text import array, quoted
from coarsen.opencl_bench.workloads.image_format import KINDS

_ROUNDINGS = """\
# Rounded operations one after the other, on the way to an element: for a sum, how many terms it has. A difference
# that they explain is right. Instead of them, tolerances can be given:
# |got - wanted| <= absolute_tolerance + relative_tolerance * |wanted|
roundings = {steps}{check}"""

_ADDRESS_SPACES = {0: "", 1: "global ", 2: "constant ", 3: "local "}

_HEAD = """\
# The kernel {kernel} as a benchmark. Written from its parameters; what they can't tell is marked CHECK.
#
# An extent is a whole number or an expression of the sizes below, of local_size_0, local_size_1, local_size_2 and
# of the macros below that are whole numbers: + - * // %, min, max and parentheses.

file = {file}
kernel = {name}
build_options = {options}

# The buffers and images whose contents count after a run. They are compared with those of the uncoarsened kernel
# at the same local size, with the same macros; in tuning over inputs with those of the default version.
outputs = {outputs}  # CHECK
{roundings}
# By how much a whole number may differ:
integer_tolerance = {integer_tolerance}

[ndrange]
# Work-items along each dimension; the local size must divide them. Where the kernel has a guard, round up:
# "(n + local_size_0 - 1) // local_size_0 * local_size_0"
global_size = {global_size}  # CHECK
local_size = {local_size}
# What a sweep tries:
local_sizes = {local_sizes}{check_local_sizes}
# What the kernel asks of local sizes and macros; where it does not hold, nothing is measured:
# conditions = ["local_size_0 == TILE", "local_size_1 <= 16"]

{tunables}
# The problem's sizes, one table for each --preset. A sweep runs the kernel thousands of times: choose them so that
# a run takes milliseconds with `test`, and tens of milliseconds with `cpu` (the default) on a few cores and with
# `gpu` on a large GPU.

{sizes}
# Buffers are filled from a seed: uniform(low, high), integers(low, high) below high, sorted(low, high) the same
# in ascending order, normal(mean, deviation), arange, permutation, constant(value), zeros, or unwritten for what
# the kernel only writes. Indices must not lead out of a buffer: then the kernel crashes, or computes what it finds
# there.
"""


def template(
    kernel: Kernel, file: str, options: Sequence[str], tunables: Mapping[str, str], parameters: str = ""
) -> str:
    """The text of the TOML file.

    Args:
        kernel: the lowered kernel.
        file: the path of its source, as the TOML file is to name it.
        options: the build options, without those macros.
        tunables: the values of macros of which a sweep may try others.
        parameters: a comment about the parameters that the source declares.

    Raises:
        InvalidInputError: a parameter that no benchmark can have, or no buffer to compare.
    """
    kinds = {parameter.name: _kind(kernel, parameter) for parameter in kernel.arguments}
    buffers = [parameter for parameter in kernel.arguments if kinds[parameter.name] in ("buffer", "image")]
    uses, indices = pointer_uses(kernel), index_uses(kernel)
    outputs = guess_outputs(kernel, buffers, uses)
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer and no image that it may write")
    types = [_content_type(kernel, parameter) for parameter in buffers if parameter.name in outputs]
    steps = rounding_steps(kernel, [element.scalar_name for element in types if element])
    may_tip = any(element and element.is_integer for element in types) and rounds_to_integers(kernel)
    launch = guess_launch(kernel)
    head = _HEAD.format(
        kernel=kernel.name,
        file=quoted(file),
        name=quoted(kernel.name),
        options=array(options),
        outputs=array(outputs),
        roundings=_roundings(steps),
        integer_tolerance="1  # CHECK: rounding may tip a whole number" if may_tip else 0,
        global_size=array(["n"] * launch.dimensions),
        local_size=list(launch.local_sizes[0]),
        local_sizes=[list(local_size) for local_size in launch.local_sizes],
        check_local_sizes="  # CHECK: is the kernel's local memory large enough?" if _may_outgrow(kernel) else "",
        tunables=parameters + _tunables(tunables),
        sizes="\n".join(f"[sizes.{name}]\nn = {n}  # CHECK\n" for name, n in launch.extents.items()),
    )
    entries = (
        _argument(kernel, entry, kinds[entry.name], launch, uses[entry.name], indices[entry.name])
        for entry in kernel.arguments
    )
    return head + "".join(entries)


def _roundings(steps: str | None) -> str:
    if steps is None:
        return "# No output is of a floating-point type: every bit has to be the same."
    check = "  # CHECK: n where a loop's trip count isn't known" if UNKNOWN_TRIPS in steps else ""
    return _ROUNDINGS.format(steps=quoted(steps), check=check)


def _may_outgrow(kernel: Kernel) -> bool:
    """Return True if a larger work-group may be too large for local memory whose size the kernel fixes."""
    is_local = (variable.address_space == AddressSpace.LOCAL for variable in kernel.globals.values())
    return kernel.required_work_group_size is None and any(is_local)


def _tunables(values: Mapping[str, str]) -> str:
    lines = [f"{name} = [{_macro(value)}]  # CHECK" for name, value in values.items()]
    example = ["[tunables]", *lines] if lines else ["# [tunables]", "# TILE = [16, 32]"]
    return "\n".join(["# The values of -D macros that a sweep tries, the default first.", *example, ""])


def _macro(value: str) -> str:
    """A macro's value as TOML has it; a number whose text isn't its usual one stays a text."""
    return value if value == "0" or re.fullmatch("-?[1-9][0-9]{0,17}", value) else quoted(value)


def _kind(kernel: Kernel, parameter: Argument) -> str:
    kind = kind_of(parameter)
    if kind is None:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': its parameter '{parameter.name}' is of type {parameter.type_name}, "
            "which a benchmark can't have; time it in a program of your own, with coarsen.Program"
        )
    return kind


def _argument(
    kernel: Kernel, parameter: Argument, kind: str, launch: LaunchGuess, use: PointerUse, indices: IndexUse
) -> str:
    const = "const " if "const" in parameter.qualifiers and parameter.address_space == 1 else ""
    space = _ADDRESS_SPACES[parameter.address_space] if kind != "image" else f"{parameter.access} "
    declaration = f"{space}{const}{parameter.type_name} {parameter.name}"
    declared = declared_type(parameter)
    lines = [f"\n[[arguments]]  # {declaration}", f"name = {quoted(parameter.name)}"]
    if kind == "image":
        lines += _image_lines(kernel, parameter, launch)
    elif kind == "sampler":
        lines += [
            'sampler = "clamp_to_edge"  # CHECK',
            'filter = "nearest"  # CHECK',
            "normalized = false  # CHECK",
        ]
    elif declared is None:
        lines += _structure_lines(parameter_type(kernel, parameter), kind, launch)
    elif kind == "buffer":
        lines += _buffer_lines(declared, launch, use, indices)
    elif kind == "local":
        lines += [f"local = {quoted(declared.name)}", f"elements = {quoted(_items(launch))}  # CHECK"]
    else:
        lines += _scalar_lines(declared)
    return "\n".join(lines) + "\n"


def _image_lines(kernel: Kernel, parameter: Argument, launch: LaunchGuess) -> Iterator[str]:
    kind = image_kind(parameter) or ""
    channel_type = image_use(kernel, parameter).usual_type
    extents = ["n" if dimension < launch.dimensions else "1" for dimension in range(KINDS[kind])]
    yield f"image = {quoted(kind)}"
    yield f"extent = {array(extents)}  # CHECK: width, height, depth or the number of layers"
    yield 'channels = "RGBA"  # CHECK'
    yield f"format = {quoted(channel_type)}  # CHECK: or half_float, unorm_int8, …"
    values = "uniform(0, 1)" if channel_type == "float" else "integers(0, 100)"
    yield f"values = {quoted(values if is_readable(parameter) else 'unwritten')}"


def _content_type(kernel: Kernel, parameter: Argument) -> ElementType | None:
    """The type of a buffer's elements, or of what the kernel writes to an image."""
    if image_kind(parameter) is None:
        return declared_type(parameter)
    return element_type({"float": "float4"}.get(image_use(kernel, parameter).usual_type, "int4"))


def _buffer_lines(kind: ElementType, launch: LaunchGuess, use: PointerUse, indices: IndexUse) -> Iterator[str]:
    yield f"buffer = {quoted(kind.name)}"
    # One more begin than there are ranges: the last one's end.
    extent = " * ".join(["n"] * max(launch.dimensions, indices.sizes))
    yield f"elements = {quoted(extent + (' + 1' if indices.holds_ranges else ''))}  # CHECK"
    check = f"  # CHECK: indices, of {', '.join(indices.addressed)}" if indices.addressed and use.is_read else ""
    yield f"values = {quoted(guess_values(kind, use, indices))}{check}"


def _scalar_lines(kind: ElementType) -> Iterator[str]:
    yield f"scalar = {quoted(kind.name)}"
    components = guess_scalar(kind)
    yield f"value = {json.dumps(components[0] if kind.components == 1 else components)}  # CHECK"


def _structure_lines(kind: ElementType, passed_as: str, launch: LaunchGuess) -> Iterator[str]:
    yield f"{passed_as} = {quoted(kind.name)}"
    if passed_as == "scalar":
        yield f"value = {quoted(bytes(kind.byte_count).hex())}  # CHECK: its bytes, in hexadecimal digits"
        return
    yield f"element_bytes = {kind.byte_count}"
    yield f"elements = {quoted(_items(launch) if passed_as == 'local' else _extent(launch))}  # CHECK"
    if passed_as == "buffer":
        yield f"values = {quoted('zeros')}  # CHECK: a file of NumPy's structures has its fields compared"


def _extent(launch: LaunchGuess) -> str:
    return " * ".join(["n"] * launch.dimensions)


def _items(launch: LaunchGuess) -> str:
    return " * ".join(f"local_size_{dimension}" for dimension in range(launch.dimensions))
