"""Bits of an integer that are the same whatever the work-item: what the factor and the stride leave in an id.

    %item = mul i64 %call, 8            ???…?000
    %item.1 = add i64 %item, 1          ???…?001: never 0

The arithmetic is that of Regehr and Duongsaa, "Deriving abstract transfer functions for analyzing embedded
software" (LCTES 2006), as far as ids need it.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.constants import number_of

_OPERATIONS = frozenset({Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.UREM, Opcode.AND})
_CONVERSIONS = frozenset({Opcode.TRUNC, Opcode.ZEXT})
# An id is a handful of operations away from what the launch says.
_MAXIMUM_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits of an integer that are known to be 0 and to be 1, as masks."""

    zeros: int
    ones: int
    width: int

    @property
    def trailing_zeros(self) -> int:
        """The number of lowest bits that are known to be 0."""
        above = ~self.zeros & self.all
        return (above & -above).bit_length() - 1 if above else self.width

    @property
    def all(self) -> int:
        """Every bit."""
        return (1 << self.width) - 1

    def differs_from(self, other: Bits) -> bool:
        """Return whether a bit is 0 in one and 1 in the other."""
        return bool(self.zeros & other.ones or self.ones & other.zeros)


def known_bits(operand: Operand, depth: int = 0) -> Bits:
    """Return what is known of an integer's bits.

    Args:
        operand: an integer, no vector.
        depth: how many definitions lead here.
    """
    assert isinstance(operand.type, IntegerType)
    width = operand.type.width
    everything = (1 << width) - 1
    number = number_of(operand)
    if number is not None:
        return Bits(~number & everything, number & everything, width)
    if not isinstance(operand, Instruction) or depth > _MAXIMUM_DEPTH:
        return Bits(0, 0, width)
    if operand.opcode in _OPERATIONS:
        left, right = (known_bits(each, depth + 1) for each in operand.operands)
        return _result(operand.opcode, left, right)
    if operand.opcode in _CONVERSIONS:
        converted = known_bits(operand.operands[0], depth + 1)
        above = everything & ~converted.all if operand.opcode is Opcode.ZEXT else 0
        return Bits(converted.zeros & everything | above, converted.ones & everything, width)
    return Bits(0, 0, width)


def _result(opcode: Opcode, left: Bits, right: Bits) -> Bits:
    if opcode is Opcode.ADD:
        return _sum(left, right, 0)
    if opcode is Opcode.SUB:
        return _sum(left, Bits(right.ones, right.zeros, right.width), 1)
    if opcode is Opcode.AND:
        return Bits(left.zeros | right.zeros, left.ones & right.ones, left.width)
    is_number = right.zeros | right.ones == right.all
    if opcode is Opcode.MUL:
        return _multiple(left.trailing_zeros + right.trailing_zeros, left)
    if opcode is Opcode.SHL and is_number:
        return _multiple(left.trailing_zeros + right.ones, left)
    if opcode is Opcode.UREM and is_number and right.ones.bit_count() == 1:
        return Bits(left.zeros | right.all & ~(right.ones - 1), left.ones & (right.ones - 1), left.width)
    return Bits(0, 0, left.width)


def _multiple(zeros: int, like: Bits) -> Bits:
    return Bits((1 << min(zeros, like.width)) - 1, 0, like.width)


def _sum(left: Bits, right: Bits, carry: int) -> Bits:
    """A bit of the sum is known where both operands' bits and the carry into it are."""
    largest = (~left.zeros & left.all) + (~right.zeros & right.all) + carry
    smallest = left.ones + right.ones + carry
    no_carry = ~(largest ^ left.zeros ^ right.zeros)
    a_carry = smallest ^ left.ones ^ right.ones
    known = (left.zeros | left.ones) & (right.zeros | right.ones) & (no_carry | a_carry)
    return Bits(~largest & known, smallest & known, left.width)
