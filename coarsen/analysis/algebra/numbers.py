"""Whole numbers modulo 2^n: operands that are numbers, their widths, and the operations of the ring."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

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


_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def relation_of(comparison: Instruction, *, holds: bool = True) -> str:
    """Return the relation of an `icmp`'s operands: lt, le, gt, ge, eq or ne, whether with signs or without.

    Args:
        comparison: the `icmp`.
        holds: False for the relation that they have where it is false.
    """
    relation = predicate(comparison).lstrip("us")
    return relation if holds else _OPPOSITE[relation]


# Rules that hold in all three semantics, because these numbers are a ring.
#
#     (x + y) mod 2^n = (x mod 2^n + y mod 2^n) mod 2^n        whatever wraps on the way
#
# They take the operands' forms alone, so whoever has forms may use them, with a walk over a kernel or without.


class RingElement(Protocol):
    """What forms can do: polynomials, and polynomials that say more."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sum."""

    def __sub__(self, other: Self, /) -> Self:
        """Return the difference."""

    def __mul__(self, other: Self, /) -> Self:
        """Return the product."""

    def scaled(self, factor: int) -> Self:
        """Return the product with a number."""

    @property
    def number(self) -> int | None:
        """The number that it is, None where it isn't one for sure."""


F = TypeVar("F", bound=RingElement)


class RingRule(Protocol):
    """The form of a result from those of two operands; None where the rule says nothing."""

    def __call__(self, first: F, second: F, width: int, /) -> F | None:
        """Apply the rule to the operands of an operation on integers of `width` bits."""


def add(first: F, second: F, width: int) -> F:
    """`add`, whatever its width."""
    return first + second


def subtract(first: F, second: F, width: int) -> F:
    """`sub`, whatever its width."""
    return first - second


def multiply(first: F, second: F, width: int) -> F:
    """`mul`, whatever its width."""
    return first * second


def shift_left(shifted: F, distance: F, width: int) -> F | None:
    """`shl` by a number of bits below its width; any other is poison."""
    number = distance.number
    return shifted.scaled(1 << number) if number is not None and 0 <= number < width else None


def complement(first: F, mask: F, width: int) -> F | None:
    """`xor` with -1 is -x - 1."""
    return mask - first if mask.number == -1 else None
