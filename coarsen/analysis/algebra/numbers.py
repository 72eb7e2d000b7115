"""Operands that are numbers, and the widths of integers and addresses."""

from __future__ import annotations

from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Value
from coarsen.ir.types import IntegerType, Type

POINTER_BITS = 64
_BITS = {"false": 0, "true": 1}


def number_of(value: Value) -> int | None:
    """Return the number that an operand is, 1 for true; None for any other, such as undef."""
    if value.kind is not ValueKind.CONSTANT:
        return None
    return _BITS.get(value.text) if value.number is None else value.number


def width_of(type_: Type) -> int:
    """Return the bits of an integer or an address."""
    return type_.width if isinstance(type_, IntegerType) else POINTER_BITS
