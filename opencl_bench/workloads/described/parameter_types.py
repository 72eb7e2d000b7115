"""Kinds and types of a kernel's parameters, as a description or a captured launch has them."""

from __future__ import annotations

import re

from coarsen.backend.opencl_c.decide.arguments import by_value_type
from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace, PointerType, TargetType
from coarsen.opencl_bench.workloads.described.element_types import ElementType, element_type, opaque_type
from coarsen.opencl_bench.workloads.described.image_use import image_kind, is_sampler
from coarsen.opencl_bench.workloads.described.structures import structure_of

# What clang records of a type: `float*`, `float __attribute__((ext_vector_type(4)))*`.
_TYPE_NAME = re.compile(r"(\w+)(?: __attribute__\(\(ext_vector_type\((\d+)\)\)\))?\*?")


def kind_of(parameter: Argument) -> str | None:
    """`buffer`, `scalar`, `local`, `image` or `sampler`; None for what a file can't describe, such as an event."""
    if isinstance(parameter.type, TargetType):
        return "sampler" if is_sampler(parameter) else "image" if image_kind(parameter) else None
    if not isinstance(parameter.type, PointerType):
        return "scalar"
    if parameter.type.address_space == AddressSpace.PRIVATE:
        return "scalar"  # a structure by value
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


def parameter_type(kernel: Kernel, parameter: Argument) -> ElementType:
    """The type of a parameter, of a pointer's elements; bytes where it is a structure's or isn't known."""
    declared = declared_type(parameter)
    if declared is not None:
        return declared
    structure = structure_of(kernel, parameter)
    if structure is not None:
        return opaque_type(size_of(structure))
    passed = by_value_type(parameter, kernel.structures) or parameter.type
    return opaque_type(1 if isinstance(passed, PointerType) else size_of(passed))
