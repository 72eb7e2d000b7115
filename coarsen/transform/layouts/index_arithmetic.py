"""Arithmetic on indices of 64 bits, of which what is constant is computed at once.

5 + %i·1 + 0        %i + 5
(7 · 3) mod 16      5
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType

_INDEX = IntegerType(64)
_ALL = 2**64
_COMPUTED = {
    Opcode.ADD: lambda value, other: value + other,
    Opcode.MUL: lambda value, other: value * other,
    Opcode.UDIV: lambda value, other: value % _ALL // other,
    Opcode.UREM: lambda value, other: value % _ALL % other,
    Opcode.AND: lambda value, other: value & other,
    Opcode.XOR: lambda value, other: value ^ other,
}


class IndexArithmetic:
    """Builds indices at one place of a function, nameless for a reader: they stand inside of an access."""

    def __init__(self, build: Builder) -> None:
        self._build = build

    def wide(self, value: Operand) -> Operand:
        """Return an index as a `getelementptr` takes it: of 64 bits, with its sign."""
        return value if value.type == _INDEX else self._build.cast(Opcode.SEXT, value, _INDEX, NewName("index"))

    def sum_of(self, steps: Iterable[tuple[Operand, int]], divisor: int, constant: int) -> Operand:
        """Return the sum of a number and of values, each times its scale over a divisor of that."""
        total: Operand = number(_INDEX, constant)
        for value, scale in steps:
            step = self.times(self.wide(value), scale // divisor)
            total = self.plus(step, total)
        return total

    def plus(self, left: Operand, right: Operand) -> Operand:
        """Return a sum."""
        if is_number(right, 0):
            return left
        return right if is_number(left, 0) else self._by(Opcode.ADD, left, right)

    def times(self, value: Operand, factor: int) -> Operand:
        """Return a product."""
        return self._by(Opcode.MUL, value, number(_INDEX, factor)) if factor != 1 else value

    def divided(self, value: Operand, divisor: int) -> Operand:
        """Return a quotient; the value counts as not negative."""
        return self._by(Opcode.UDIV, value, number(_INDEX, divisor)) if divisor != 1 else value

    def remainder(self, value: Operand, divisor: int) -> Operand:
        """Return a remainder; the value counts as not negative."""
        return self._by(Opcode.UREM, value, number(_INDEX, divisor))

    def masked(self, value: Operand, mask: int) -> Operand:
        """Return the bits of a mask."""
        return self._by(Opcode.AND, value, number(_INDEX, mask))

    def exclusive_or(self, value: Operand, other: Operand) -> Operand:
        """Return the bits in which two differ."""
        if is_number(other, 0):
            return value
        return other if is_number(value, 0) else self._by(Opcode.XOR, value, other)

    def _by(self, opcode: Opcode, value: Operand, other: Operand) -> Operand:
        if not value.is_local and not other.is_local:
            return number(_INDEX, _COMPUTED[opcode](int(value.text), int(other.text)))
        return self._build.binary(opcode, value, other, NewName("position"))


def is_number(value: Operand, wanted: int) -> bool:
    """Return True for a constant that is a number."""
    return not value.is_local and value.text == str(wanted)
