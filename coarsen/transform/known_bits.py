"""Bits of an integer that are the same whatever the work-item: what the factor and the stride leave in an id.

    %item = mul i64 %call, 8            ???…?000
    %item.1 = add i64 %item, 1          ???…?001: never 0

The arithmetic is that of Regehr and Duongsaa, "Deriving abstract transfer functions for analyzing embedded
software" (LCTES 2006), as far as ids need it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.transform.body_text import Line

_OPERATION = re.compile(
    r"(?P<opcode>add|sub|mul|shl|urem|and)(?: nuw| nsw)* i(?P<width>\d+) (?P<left>[^ ,]+), (?P<right>[^ ,]+)$"
)
_CONVERSION = re.compile(r"(?P<opcode>trunc|zext)(?: \w+)* i(?P<own>\d+) (?P<left>%[^ ,]+) to i(?P<width>\d+)$")
_NUMBER = re.compile(r"-?\d+\Z")
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
        """How many of the lowest bits are known to be 0."""
        above = ~self.zeros & self.all
        return (above & -above).bit_length() - 1 if above else self.width

    @property
    def all(self) -> int:
        """Every bit."""
        return (1 << self.width) - 1

    def differs_from(self, other: Bits) -> bool:
        """Whether a bit is 0 in one and 1 in the other."""
        return bool(self.zeros & other.ones or self.ones & other.zeros)


def known_bits(text: str, width: int, definition: Mapping[str, Line], depth: int = 0) -> Bits:
    """What is known of a value's bits.

    Args:
        text: the operand, a number or a name with `%`.
        width: of the integer, in bits.
        definition: the lines that compute values, by name without `%`.
        depth: how many definitions lead here.
    """
    everything = (1 << width) - 1
    if _NUMBER.match(text):
        return Bits(~int(text) & everything, int(text) & everything, width)
    line = definition.get(text[1:]) if text.startswith("%") else None  # `true` is no value called `rue`
    if line is None or depth > _MAXIMUM_DEPTH:
        return Bits(0, 0, width)
    match = _CONVERSION.match(line.text)
    if match:
        operand = known_bits(match["left"], int(match["own"]), definition, depth + 1)
        above = everything & ~operand.all if match["opcode"] == "zext" else 0
        return Bits(operand.zeros & everything | above, operand.ones & everything, width)
    match = _OPERATION.match(line.text)
    if match is None:
        return Bits(0, 0, width)
    left, right = (known_bits(match[side], width, definition, depth + 1) for side in ("left", "right"))
    return _result(match["opcode"], left, right)


def _result(opcode: str, left: Bits, right: Bits) -> Bits:
    if opcode == "add":
        return _sum(left, right, 0)
    if opcode == "sub":
        return _sum(left, Bits(right.ones, right.zeros, right.width), 1)
    if opcode == "and":
        return Bits(left.zeros | right.zeros, left.ones & right.ones, left.width)
    is_number = right.zeros | right.ones == right.all
    if opcode == "mul":
        return _multiple(left.trailing_zeros + right.trailing_zeros, left)
    if opcode == "shl" and is_number:
        return _multiple(left.trailing_zeros + right.ones, left)
    if opcode == "urem" and is_number and right.ones.bit_count() == 1:
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
