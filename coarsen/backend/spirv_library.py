"""Builtins that LLVM's SPIR-V back end does not know, or gets wrong, in terms of those that it does.

Of a function that it does not know it makes one to be linked in from elsewhere, which few devices can. For
`async_work_group_copy` it writes a stride of 32 bits where OpenCL wants a `size_t`; devices find no such function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coarsen.backend.builtin_library import Declaration, scalar
from coarsen.backend.builtin_memory import atomic_body
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType

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


# `convert_…` between integers, and to half and double, as LLVM instructions.
#
# LLVM 22's SPIR-V back end takes the sign of a conversion from one side only: `convert_uint(uchar)` comes out as a
# signed widening, and saturating ones clamp to the wrong range. Conversions that it gets right are left to it.

_NAME = re.compile(
    r"convert_(?P<unsigned>u?)(?P<to>char|short|int|long|half|float|double)\d*(?P<saturated>_sat)?(?P<mode>_rt[ezpn])?$"
)
_WIDTHS = {"half": 16, "float": 32, "double": 64}


def conversion_body(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of a conversion that the back end has wrong or not at all, else None."""
    match = _NAME.match(declaration.builtin)
    if match is None:
        return None
    source, target = scalar(declaration.parameters[0]), scalar(declaration.result)
    if isinstance(source, IntegerType) and isinstance(target, IntegerType):
        return _between_integers(declaration, source, target, bool(match["unsigned"]), bool(match["saturated"]))
    if match["to"] in ("half", "double") and match["mode"] in (None, "_rte"):
        return _to_float(declaration, source, target)
    return None


def _to_float(declaration: Declaration, source: Type, target: Type) -> Iterable[str]:
    """To nearest even is what LLVM's instructions do."""
    from_type, to_type = declaration.parameters[0], declaration.result
    if not isinstance(source, FloatType):
        opcode = "uitofp" if declaration.is_unsigned else "sitofp"
    elif source == target:
        return [f"ret {to_type} %0"]
    else:
        opcode = "fpext" if _WIDTHS[source.kind] < _WIDTHS[str(target)] else "fptrunc"
    return [f"%converted = {opcode} {from_type} %0 to {to_type}", f"ret {to_type} %converted"]


def _between_integers(
    declaration: Declaration, source: IntegerType, target: IntegerType, to_unsigned: bool, saturated: bool
) -> Iterator[str]:
    from_type, to_type = declaration.parameters[0], declaration.result
    from_unsigned = declaration.is_unsigned
    value = "%0"
    if saturated:
        for bound, is_low in _bounds(source.width, from_unsigned, target.width, to_unsigned):
            comparison = ("u" if from_unsigned else "s") + ("lt" if is_low else "gt")
            name = "low" if is_low else "high"
            constant = _splat(from_type, bound)
            condition = "i1" if not isinstance(from_type, VectorType) else f"<{from_type.count} x i1>"
            yield f"%beyond.{name} = icmp {comparison} {from_type} {value}, {constant}"
            yield f"%{name} = select {condition} %beyond.{name}, {from_type} {constant}, {from_type} {value}"
            value = f"%{name}"
    if source.width == target.width:
        yield f"ret {to_type} {value}"
        return
    widening = "zext" if from_unsigned else "sext"
    opcode = "trunc" if source.width > target.width else widening
    yield f"%converted = {opcode} {from_type} {value} to {to_type}"
    yield f"ret {to_type} %converted"


def _bounds(width: int, unsigned: bool, to_width: int, to_unsigned: bool) -> Iterator[tuple[int, bool]]:
    """The ends of the target's range that the source can pass, each with whether it is the low one."""
    low, high = _range(width, unsigned)
    to_low, to_high = _range(to_width, to_unsigned)
    if low < to_low:
        yield to_low, True
    if high > to_high:
        yield to_high, False


def _range(width: int, unsigned: bool) -> tuple[int, int]:
    return (0, 2**width - 1) if unsigned else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def _splat(type_: Type, value: int) -> str:
    return f"splat ({type_.element} {value})" if isinstance(type_, VectorType) else str(value)
