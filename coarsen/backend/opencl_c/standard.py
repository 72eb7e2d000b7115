"""The version of OpenCL C that a kernel needs, as a build option."""

from __future__ import annotations

import re

from coarsen.backend.opencl_c.c.types import CType, Opaque, Pointer
from coarsen.backend.opencl_c.decide.arguments import declared_type
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.details import Allocation, ElementAddress
from coarsen.ir.kernel import Kernel, ValueKind
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import NEWER_QUERIES
from coarsen.ir.types import Type

DEFAULT_STANDARD = "-cl-std=CL1.2"
_NEWER_STANDARD = "-cl-std=CL2.0"
_ONLY_2_0 = re.compile(
    r"atomic_(?:init|load|store|exchange|compare_exchange\w+|fetch_\w+|flag_\w+)(?:_explicit)?|atomic_work_item_fence"
    rf"|work_group_\w+|sub_group_\w+|ctz|get_sub_group\w+|{'|'.join(query.value for query in NEWER_QUERIES)}"
)
_GENERIC = "addrspace(4)"
# Clang makes a null pointer of any address space from the generic one.
_GENERIC_NULL = "addrspacecast (ptr addrspace(4) null to "


def standard_of(kernel: Kernel, *, is_newer: bool = False) -> str:
    """Return `-cl-std=CL2.0` for a kernel that needs it, else `-cl-std=CL1.2`.

    Generic pointers, C11 atomics and the functions that came with OpenCL 2.0 need it.

    Args:
        kernel: a kernel in normal form.
        is_newer: whether something else that it does is known to need OpenCL C 2.0.
    """
    newer = is_newer or _calls_newer(kernel) or _has_generic_pointers(kernel) or _has_atomic_types(kernel)
    return _NEWER_STANDARD if newer else DEFAULT_STANDARD


def _calls_newer(kernel: Kernel) -> bool:
    return any(_ONLY_2_0.fullmatch(builtin_name(callee)) for callee in kernel.callees)


def _has_generic_pointers(kernel: Kernel) -> bool:
    # By identity: most values have one of few types, and to hash one takes longer than to look at it.
    types: dict[int, Type] = {}
    for instruction in kernel.instructions():
        types[id(instruction.type)] = instruction.type
        if isinstance(instruction.detail, Allocation | ElementAddress):
            source = source_element_type(instruction)
            types[id(source)] = source
        for operand in instruction.operands:
            if operand.kind is ValueKind.CONSTANT and _GENERIC in operand.text.replace(_GENERIC_NULL, ""):
                return True  # a constant that is computed from a generic pointer other than null
            types[id(operand.type)] = operand.type
    return any(_GENERIC in str(type_) for type_ in types.values())


def _has_atomic_types(kernel: Kernel) -> bool:
    return any(_is_atomic(declared_type(argument, kernel.structures)) for argument in kernel.arguments)


def _is_atomic(type_: CType) -> bool:
    while isinstance(type_, Pointer):
        type_ = type_.pointee
    return isinstance(type_, Opaque) and type_.name.startswith("atomic_")
