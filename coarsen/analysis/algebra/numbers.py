"""Operands that are whole numbers, their widths, and how they compare."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.types import IntegerType, Type

POINTER_BITS = 64
_BITS = {"false": 0, "true": 1}


def number_of(value: Operand) -> int | None:
    """Return the number that an operand is, 1 for true; None for any other, such as undef."""
    if value.kind is not ValueKind.CONSTANT:
        return None
    return _BITS.get(value.text) if value.number is None else value.number


def width_of(type_: Type) -> int:
    """Return the bits of an integer or an address."""
    return type_.width if isinstance(type_, IntegerType) else POINTER_BITS


COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
"""What each relation says of two numbers."""
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def relation_of(comparison: Instruction, *, holds: bool = True) -> str:
    """Return the relation of an `icmp`'s operands: lt, le, gt, ge, eq or ne, whether with signs or without.

    Args:
        comparison: the `icmp`.
        holds: False for the relation that they have where it is false.
    """
    relation = predicate(comparison).lstrip("us")
    return relation if holds else _OPPOSITE[relation]
