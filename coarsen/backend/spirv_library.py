"""Builtins that LLVM's SPIR-V back end does not know, or gets wrong, in terms of those that it does.

Of a function that it does not know it makes one to be linked in from elsewhere, which few devices can. For
`async_work_group_copy` it writes a stride of 32 bits where OpenCL wants a `size_t`; devices find no such function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.backend.atomic_builtins import atomic_body
from coarsen.backend.builtin_library import Declaration
from coarsen.backend.spirv_conversions import conversion_body

_FENCE = "_Z22atomic_work_item_fencej12memory_order12memory_scope"
# Clang's numbers of memory_order_acquire, _release and _acq_rel, and of memory_scope_work_group.
_FENCE_ORDERS = {"read_mem_fence": 2, "write_mem_fence": 3, "mem_fence": 4}
_WORK_GROUP_SCOPE = 1
_COPY = re.compile(r"_Z21async_work_group_copy(?P<pointers>\w+)(?P<size>[mj])9ocl_event$")


def spirv_library(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of a builtin that the SPIR-V back end needs one for, else None."""
    if declaration.builtin in _FENCE_ORDERS:
        order = _FENCE_ORDERS[declaration.builtin]
        return [f"call spir_func void @{_FENCE}(i32 %0, i32 {order}, i32 {_WORK_GROUP_SCOPE})", "ret void"]
    conversion = conversion_body(declaration)
    if conversion is not None:
        return conversion
    copy = _COPY.match(declaration.name)
    if copy:
        return _strided_copy(declaration, copy)
    return atomic_body(declaration)


def _strided_copy(declaration: Declaration, copy: re.Match[str]) -> Iterable[str]:
    event = declaration.result
    to_pointer, from_pointer, size, _ = declaration.parameters
    callee = f"_Z29async_work_group_strided_copy{copy['pointers']}{copy['size'] * 2}9ocl_event"
    arguments = f"{to_pointer} %0, {from_pointer} %1, {size} %2, {size} 1, {event} %3"
    return [
        f"%event = call spir_func {event} @{callee}({arguments})",
        f"ret {event} %event",
    ]
