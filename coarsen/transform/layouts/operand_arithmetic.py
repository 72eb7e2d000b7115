"""Arithmetic on operands of one width, of which what is constant is computed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coarsen.analysis.algebra.numbers import width_of
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.names import own

INDEX = IntegerType(64)
_COMPUTED: Mapping[Opcode, Callable[[int, int, int], int]] = {
    Opcode.ADD: lambda left, right, _: left + right,
    Opcode.SUB: lambda left, right, _: left - right,
    Opcode.MUL: lambda left, right, _: left * right,
    Opcode.UDIV: lambda left, right, width: left % 2**width // (right % 2**width),
    Opcode.UREM: lambda left, right, width: left % 2**width % (right % 2**width),
}


class OperandArithmetic:
    """Builds numbers at one place of a function.

    Args:
        build: puts them there.
        type_: of the numbers.
    """

    def __init__(self, build: Builder, type_: IntegerType = INDEX) -> None:
        self._build = build
        self._type = type_

    def number(self, value: int) -> Operand:
        """Return a constant."""
        return number(self._type, value)

    def wide(self, value: Operand) -> Operand:
        """Return an index as a `getelementptr` takes it: of 64 bits, with its sign."""
        return self.extended(Opcode.SEXT, value)

    def extended(self, opcode: Opcode, value: Operand) -> Operand:
        """Return a value in the width of the others, by `sext` or `zext`."""
        return value if value.type == self._type else self._build.cast(opcode, value, self._type, own("index"))

    def truncated(self, value: Operand) -> Operand:
        """Return the low bits of a value."""
        if not value.is_local:
            return self.number(int(value.text))
        return (
            value if value.type == self._type else self._build.cast(Opcode.TRUNC, value, self._type, own("index"))
        )

    def plus(self, left: Operand, right: Operand) -> Operand:
        """Return a sum."""
        if is_zero(right):
            return left
        return right if is_zero(left) else self.computed(Opcode.ADD, left, right)

    def times(self, value: Operand, factor: int) -> Operand:
        """Return the product with a number."""
        return self.computed(Opcode.MUL, value, self.number(factor))

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
        return self._build.binary(opcode, left, right, own("position"))


def is_zero(value: Operand) -> bool:
    """Return True for the constant 0."""
    return not value.is_local and value.text == "0"


def _is_one(value: Operand) -> bool:
    return not value.is_local and value.text == "1"
