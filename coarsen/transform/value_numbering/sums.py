"""Integer arithmetic as sums of products, exact since integers of n bits are numbers modulo 2^n.

    %centre = add i32 %row, %x          row + x
    %left = sub i32 %centre, 1          row + x - 1
    %centre.1 = add i32 %row, %x.1      row + x + 1, where %x.1 = add i32 %x, 1
    %x = trunc i64 %id.1 to i32         id + 1 as 32 bits: one symbol for `id`, and 1

Where two values have the same sum they are the same number, whatever the order in which it was computed; nothing
is assumed about overflow. What is not a sum, difference or product stands for itself, as a symbol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.bit_exact import combined, is_exact
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.constants import number_of


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
        return self.polynomial.number

    @property
    def product(self) -> Product | None:
        """The product of symbols that it is, without a factor and with nothing added."""
        [(product, coefficient), *others] = self.polynomial.terms.items()
        return product if not others and coefficient == 1 else None


class Sums:
    """The sums of a function's values, each computed from those of its operands when it is first asked for."""

    def __init__(self) -> None:
        self._sums: dict[Operand, Sum] = {}
        self._symbols: dict[Operand, str] = {}
        self._values: dict[str, Operand] = {}

    def of(self, instruction: Instruction, operands: Sequence[Operand]) -> Sum | None:
        """Return the sum that an instruction computes; None if it is no integer arithmetic or gets too long.

        Args:
            instruction: computes the result.
            operands: what now stands for its operands.
        """
        type_ = instruction.type
        if not isinstance(type_, IntegerType):
            return None
        if instruction.opcode is Opcode.TRUNC:
            return None if instruction.flags else self._truncated(operands[0], type_.width)
        if not is_exact(instruction.opcode):
            return None
        left, right = map(self._operand, operands)
        found = combined(instruction.opcode, left.polynomial, right.polynomial, type_.width)
        if found is None:
            return None
        kept = found.symbols.issuperset(left.polynomial.symbols | right.polynomial.symbols)
        return Sum(type_.width, found, kept and left.is_total and right.is_total and not instruction.flags)

    def _truncated(self, operand: Operand, width: int) -> Sum:
        """Of `x + 3`, cut to fewer bits: what x is then, and 3."""
        known = self._operand(operand)
        number = known.polynomial.constant_part
        rest = known.polynomial - Polynomial.constant(number)
        cut = Polynomial.symbol(f"i{width} of {rest}") + Polynomial.constant(number)
        return Sum(width, cut.modulo(width), known.is_total)

    def remember(self, instruction: Instruction, found: Sum) -> None:
        """Take a sum for what an instruction's result is from now on."""
        self._sums[instruction] = found

    def known(self, operand: Operand) -> Polynomial:
        """Return what is remembered of a value."""
        return self._sums[operand].polynomial

    def value_of(self, product: Product | None) -> Operand | None:
        """Return the value that a product is; None for a number, for what was cut and for more than one symbol."""
        return self._values.get(product[0]) if product is not None and len(product) == 1 else None

    def _operand(self, operand: Operand) -> Sum:
        assert isinstance(operand.type, IntegerType)
        number = number_of(operand)
        if number is not None:
            return Sum(operand.type.width, Polynomial.constant(number).modulo(operand.type.width), True)
        known = self._sums.get(operand)
        return known or Sum(operand.type.width, Polynomial.symbol(self._symbol(operand)), True)

    def _symbol(self, operand: Operand) -> str:
        """The symbol for a value, a number of its own: names are unique only where they have been made so."""
        known = self._symbols.get(operand)
        if known is None:
            known = self._symbols[operand] = f"%{len(self._symbols)}"
            if operand.is_local:
                self._values[known] = operand
        return known
