"""The version of OpenCL C that a kernel needs, as a build option."""

from __future__ import annotations

import re

from coarsen.backend.opencl_c.c.types import CType, Opaque, Pointer
from coarsen.backend.opencl_c.decide.arguments import declared_type
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import NEWER_QUERIES
from coarsen.ir.types import Type

DEFAULT_STANDARD = "-cl-std=CL1.2"
_NEWER_STANDARD = "-cl-std=CL2.0"
_ONLY_2_0 = re.compile(
    r"atomic_(?:init|load|store|exchange|compare_exchange\w+|fetch_\w+|flag_\w+)(?:_explicit)?|atomic_work_item_fence"
    rf"|work_group_\w+|sub_group_\w+|ctz|get_sub_group\w+|{'|'.join(query.value for query in NEWER_QUERIES)}"
)
_WITH_SOURCE_TYPE = frozenset({"alloca", "getelementptr"})
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
    instructions = list(kernel.instructions())
    operands = {id(operand): operand for each in instructions for operand in each.operands}.values()
    if any(operand.kind is ValueKind.CONSTANT and _is_generic(operand.text) for operand in operands):
        return True
    types: dict[int, Type] = {id(each.type): each.type for each in instructions}
    types |= {id(each.type): each.type for each in operands}
    named = [each for each in instructions if each.opcode in _WITH_SOURCE_TYPE]
    types |= {id(type_): type_ for type_ in map(source_element_type, named)}
    return any(_GENERIC in str(type_) for type_ in types.values())


def _is_generic(constant: str) -> bool:
    """Return True for a constant that is computed from a generic pointer other than null."""
    return _GENERIC in constant and _GENERIC in constant.replace(_GENERIC_NULL, "")


def _has_atomic_types(kernel: Kernel) -> bool:
    return any(_is_atomic(declared_type(argument, kernel.structures)) for argument in kernel.arguments)


def _is_atomic(type_: CType) -> bool:
    while isinstance(type_, Pointer):
        type_ = type_.pointee
    return isinstance(type_, Opaque) and type_.name.startswith("atomic_")
