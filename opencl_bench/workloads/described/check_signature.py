"""Compares a benchmark file's arguments with the kernel's own parameters. Needs the front end, and so clang."""

from __future__ import annotations

import re
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, PointerType, TargetType
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LocalDescription,
)
from coarsen.opencl_bench.workloads.described.element_types import ElementType, element_type
from coarsen.opencl_bench.workloads.described.read import read_description

# What clang records of a type: `float*`, `float __attribute__((ext_vector_type(4)))*`.
_TYPE_NAME = re.compile(r"(\w+)(?: __attribute__\(\(ext_vector_type\((\d+)\)\)\))?\*?")


def check_kernel_of(path: Path) -> None:
    """Lower the kernel that a file names and compare its parameters with the file's arguments.

    Raises:
        InvalidInputError: a mistake in the file or in the kernel, or they don't go together.
        RefusalError: the kernel calls itself.
    """
    description = read_description(path)
    definitions = [f"-D{name}={value}" for name, value in description.defaults]
    options = [*description.build_options, *definitions]
    check_signature(description, lower(description.kernel_file, description.kernel, options))


def check_signature(description: Description, kernel: Kernel) -> None:
    """Compare a file's arguments with a kernel's parameters: number, names, kinds, types.

    Raises:
        InvalidInputError: the first difference, with file and key.
    """
    wanted, given = len(kernel.arguments), len(description.arguments)
    if wanted != given:
        names = ", ".join(argument.name for argument in kernel.arguments)
        raise InvalidInputError(
            f"{description.path}: arguments: there are {given}; the kernel '{kernel.name}' has {wanted}: {names}"
        )
    for index, (argument, parameter) in enumerate(zip(description.arguments, kernel.arguments, strict=True)):
        problem = _difference(argument, parameter)
        if problem is not None:
            raise InvalidInputError(f"{description.path}: arguments[{index}]: {problem}")


def kind_of(parameter: Argument) -> str | None:
    """`buffer`, `scalar` or `local`; None for what a file can't describe (an image, a structure by value)."""
    if isinstance(parameter.type, TargetType):
        return None
    if not isinstance(parameter.type, PointerType):
        return "scalar"
    if parameter.type.address_space == AddressSpace.PRIVATE:
        return None
    return "local" if parameter.type.address_space == AddressSpace.LOCAL else "buffer"


def declared_type(parameter: Argument) -> ElementType | None:
    """The type of a parameter, of a pointer's elements; None where it is a structure's or not recorded."""
    match = _TYPE_NAME.fullmatch(parameter.base_type_name)
    if match is None:
        return None
    try:
        return element_type(match[1] + (match[2] or ""))
    except InvalidInputError:
        return None


def _difference(argument: ArgumentDescription, parameter: Argument) -> str | None:
    if argument.name != parameter.name:
        return f"the kernel's parameter there is '{parameter.name}', not '{argument.name}'"
    given, wanted = _kind(argument), kind_of(parameter)
    if wanted is None:
        return f"'{parameter.name}' is of type {parameter.type_name}, which a benchmark can't have"
    if given != wanted:
        return f"'{parameter.name}' is a {wanted} parameter of the kernel, not a {given} one"
    declared = declared_type(parameter)
    if declared is not None and declared != argument.type:
        return f"'{parameter.name}' is of type {declared.name} in the kernel, not {argument.type.name}"
    return None


def _kind(argument: ArgumentDescription) -> str:
    if isinstance(argument, BufferDescription):
        return "buffer"
    return "local" if isinstance(argument, LocalDescription) else "scalar"
