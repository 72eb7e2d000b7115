"""Integer arithmetic as sums of products, exact since integers of n bits are numbers modulo 2^n.

    %centre = add i32 %row, %x          row + x
    %left = sub i32 %centre, 1          row + x - 1
    %centre.1 = add i32 %row, %x.1      row + x + 1, where %x.1 = add i32 %x, 1
    %x = trunc i64 %id.1 to i32         id + 1 as 32 bits: one symbol for `id`, and 1

Where two values have the same sum they are the same number, whatever the order in which it was computed; nothing
is assumed about overflow. What is not a sum, difference or product stands for itself, with `%` as a symbol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from coarsen.analysis.polynomial import Polynomial
from coarsen.transform.body_text import Line

_OPERATION = re.compile(
    r"(?P<opcode>add|sub|mul|shl)(?P<flags>(?: nuw| nsw)*) i(?P<width>\d+) (?P<left>[^ ,]+), (?P<right>[^ ,]+)$"
)
_OPCODES = ("add", "sub", "mul", "shl")
_TRUNCATION = re.compile(r"trunc i(?P<own>\d+) (?P<value>%[^ ,]+) to i(?P<width>\d+)$")
_NUMBER = re.compile(r"-?\d+\Z")

# Longer sums are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 8
_MAXIMUM_DEGREE = 4


@dataclass(frozen=True, slots=True)
class Sum:
    """An integer of `width` bits; `is_total` if it is poison only where one of the polynomial's symbols is.

    It is not where a part has `nsw` or `nuw`, which makes it poison where it overflows, or where a symbol cancels
    out (`x + y - y`). Such a value must not take the place of another unless it is surely defined
    (`surely_defined.py`).
    """

    width: int
    polynomial: Polynomial
    is_total: bool

    @property
    def number(self) -> int | None:
        """The value if it is a constant."""
        return self.polynomial.constant_part if self.polynomial.is_constant else None


@dataclass
class Sums:
    """The sums of a body's values, each computed from those of its operands when it is first asked for."""

    _sums: dict[str, Sum] = field(default_factory=dict)

    def of_line(self, line: Line) -> Sum | None:
        """The sum that a line computes; None if it is no integer arithmetic or gets too long."""
        if line.opcode == "trunc":
            return self._truncated(line)
        match = _OPERATION.match(line.text) if line.opcode in _OPCODES else None
        if match is None:
            return None
        width, opcode = int(match["width"]), match["opcode"]
        left, right = self._operand(match["left"], width), self._operand(match["right"], width)
        combined = _combined(opcode, left.polynomial, right.polynomial, width)
        if combined is None:
            return None
        kept = combined.symbols.issuperset(left.polynomial.symbols | right.polynomial.symbols)
        return Sum(width, combined, kept and left.is_total and right.is_total and not match["flags"])

    def _truncated(self, line: Line) -> Sum | None:
        """Of `x + 3`, cut to fewer bits: what x is then, and 3."""
        match = _TRUNCATION.match(line.text)
        if match is None:
            return None
        known = self._operand(match["value"], int(match["own"]))
        width, number = int(match["width"]), known.polynomial.constant_part
        rest = known.polynomial - Polynomial.constant(number)
        cut = Polynomial.symbol(f"i{width} of {rest}") + Polynomial.constant(number)
        return Sum(width, cut.modulo(width), known.is_total)

    def remember(self, name: str, found: Sum) -> None:
        """Take a sum for what a name's value is from now on."""
        self._sums[name] = found

    def known(self, text: str) -> Polynomial:
        """What is remembered of a value, by its name with `%`."""
        return self._sums[text[1:]].polynomial

    def _operand(self, text: str, width: int) -> Sum:
        if _NUMBER.match(text):
            return Sum(width, Polynomial.constant(int(text)).modulo(width), True)
        known = self._sums.get(text[1:]) if text.startswith("%") else None
        return known or Sum(width, Polynomial.symbol(text), True)


def _combined(opcode: str, left: Polynomial, right: Polynomial, width: int) -> Polynomial | None:
    if opcode == "shl":
        distance = right.constant_part
        if not right.is_constant or not 0 <= distance < width:
            return None
        right = Polynomial.constant(2**distance)
    if opcode in ("mul", "shl"):
        if len(left.terms) * len(right.terms) > 2 * _MAXIMUM_TERMS:
            return None
        result = left * right
    else:
        result = left + right if opcode == "add" else left - right
    result = result.modulo(width)
    degree = max(map(len, result.terms), default=0)
    return result if len(result.terms) <= _MAXIMUM_TERMS and degree <= _MAXIMUM_DEGREE else None
