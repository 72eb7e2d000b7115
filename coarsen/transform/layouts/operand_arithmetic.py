"""Arithmetic on operands of one width, of which what is constant is computed at once.

5 + %i·1 + 0        %i + 5
(7 · 3) mod 16      5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coarsen.analysis.algebra.numbers import width_of
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.index_type import INDEX
from coarsen.transform.names import own

_COMPUTED: Mapping[Opcode, Callable[[int, int, int], int]] = {
    Opcode.ADD: lambda left, right, _: left + right,
    Opcode.SUB: lambda left, right, _: left - right,
    Opcode.MUL: lambda left, right, _: left * right,
    Opcode.UDIV: lambda left, right, width: left % 2**width // (right % 2**width),
    Opcode.UREM: lambda left, right, width: left % 2**width % (right % 2**width),
    Opcode.AND: lambda left, right, _: left & right,
    Opcode.XOR: lambda left, right, _: left ^ right,
}


class OperandArithmetic:
    """Builds numbers at one place of a function.

    Args:
        build: puts them there.
        type_: of the numbers.
        name: makes the names of results.
    """

    def __init__(self, build: Builder, type_: IntegerType = INDEX, name: Callable[[str], NewName] = own) -> None:
        self._build = build
        self._type = type_
        self._name = name

    def number(self, value: int) -> Operand:
        """Return a constant."""
        return number(self._type, value)

    def wide(self, value: Operand) -> Operand:
        """Return an index as a `getelementptr` takes it: of 64 bits, with its sign."""
        return self.resized(Opcode.SEXT, value)

    def resized(self, opcode: Opcode, value: Operand) -> Operand:
        """Return a value in the width of the others, by `sext`, `zext` or `trunc`."""
        if value.type == self._type:
            return value
        return self._build.cast(opcode, value, self._type, self._name("index"))

    def truncated(self, value: Operand) -> Operand:
        """Return the low bits of a value."""
        if not value.is_local:
            return self.number(int(value.text))
        return self.resized(Opcode.TRUNC, value)

    def plus(self, left: Operand, right: Operand) -> Operand:
        """Return a sum."""
        if is_zero(right):
            return left
        return right if is_zero(left) else self.computed(Opcode.ADD, left, right)

    def times(self, value: Operand, factor: int) -> Operand:
        """Return the product with a number."""
        return self.computed(Opcode.MUL, value, self.number(factor))

    def divided(self, value: Operand, divisor: int) -> Operand:
        """Return the quotient by a number, both without a sign."""
        return self.computed(Opcode.UDIV, value, self.number(divisor))

    def remainder(self, value: Operand, divisor: int) -> Operand:
        """Return what the division by a number leaves, both without a sign."""
        return self.computed(Opcode.UREM, value, self.number(divisor))

    def masked(self, value: Operand, mask: int) -> Operand:
        """Return the bits of a mask."""
        return self.computed(Opcode.AND, value, self.number(mask))

    def exclusive_or(self, left: Operand, right: Operand) -> Operand:
        """Return the bits in which two differ."""
        if is_zero(right):
            return left
        return right if is_zero(left) else self.computed(Opcode.XOR, left, right)

    def sum_of(self, steps: Iterable[tuple[Operand, int]], divisor: int, constant: int) -> Operand:
        """Return the sum of a number and of indices, each times its scale over a divisor of that."""
        total = self.number(constant)
        for value, scale in steps:
            total = self.plus(self.times(self.wide(value), scale // divisor), total)
        return total

    def product(self, factors: Iterable[Operand]) -> Operand:
        """Return a product, 1 of no factors."""
        product = self.number(1)
        for factor in factors:
            product = self.computed(Opcode.MUL, product, factor)
        return product

    def computed(self, opcode: Opcode, left: Operand, right: Operand) -> Operand:
        """Return the result of an operation."""
        if not left.is_local and not right.is_local:
            return self.number(_COMPUTED[opcode](int(left.text), int(right.text), width_of(self._type)))
        if _is_one(right) and opcode in (Opcode.MUL, Opcode.UDIV):
            return left
        if _is_one(left) and opcode is Opcode.MUL:
            return right
        return self._build.binary(opcode, left, right, self._name("position"))


def is_zero(value: Operand) -> bool:
    """Return True for the constant 0."""
    return not value.is_local and value.text == "0"


def _is_one(value: Operand) -> bool:
    return not value.is_local and value.text == "1"
