"""Sums of integers that another value is already, or from which another value is one addition away.

    %mul = mul i32 %x, %height                      %mul = mul i32 %x, %height
    %index = add i32 %mul, %y                       %index = add i32 %mul, %y
    %mul.1 = mul i32 %x.1, %height
    %index.1 = add i32 %mul.1, %y                   %index.1 = add i32 %index, %height

A sum is written anew only where that saves an instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.expressions import Key
from coarsen.transform.value_numbering.leaders import Leaders
from coarsen.transform.value_numbering.sums import Sum, Sums


@dataclass(frozen=True, slots=True)
class Shorter:
    """Another way to compute an instruction's result: one value plus or minus another."""

    opcode: Opcode
    left: Instruction
    right: Operand


class SharedSums:
    """Finds sums again among those of the values that were met before."""

    def __init__(self, leaders: Leaders) -> None:
        self._leaders = leaders
        self._sums = Sums()

    def share(self, instruction: Instruction, operands: Sequence[Operand], block: str) -> Operand | Shorter | None:
        """Return a value with an instruction's sum, or a shorter way to it; None where the instruction stays.

        Args:
            instruction: with a result; what stays is found again later.
            operands: what now stands for its operands.
            block: the name of its block.
        """
        found = self._sums.of(instruction, operands)
        if found is None:
            return None
        same = self._leaders.find(_key(found), block) or self._of_one_term(found)
        if same is not None:
            return same
        shorter = self._shorter(operands, found, block) if found.is_total else None
        self._remember(instruction, found if shorter is None else Sum(found.width, found.polynomial, True), block)
        return shorter

    def _of_one_term(self, found: Sum) -> Operand | None:
        """The value or number that a sum of one term is."""
        if found.number is not None:
            return number(IntegerType(found.width), found.number)
        return self._sums.value_of(found.product)

    def _remember(self, instruction: Instruction, found: Sum, block: str) -> None:
        self._sums.remember(instruction, found)
        self._leaders.follow(_key(found), instruction, block, not found.is_total)
        if found.is_total and len(found.polynomial.terms) == 1:
            [product] = found.polynomial.terms
            self._leaders.follow(_multiple(found.width, product), instruction, block)

    def _shorter(self, operands: Sequence[Operand], found: Sum, block: str) -> Shorter | None:
        """The sum as another plus or minus one value, if an operand is then needed no more."""
        freed = [operand for operand in operands if self._is_sum_used_once(operand)]
        if not freed:
            return None
        for distance, right in self._distances(found, block):
            for opcode, other in (
                (Opcode.ADD, found.polynomial - distance),
                (Opcode.SUB, found.polynomial + distance),
            ):
                left = self._leaders.find(_key(Sum(found.width, other.modulo(found.width), True)), block)
                if left is not None and any(operand not in (left, right) for operand in freed):
                    return Shorter(opcode, left, right)
        return None

    def _is_sum_used_once(self, operand: Operand) -> bool:
        return (
            isinstance(operand, Instruction)
            and len(operand.uses) == 1
            and self._sums.of(operand, operand.operands) is not None
        )

    def _distances(self, found: Sum, block: str) -> Iterator[tuple[Polynomial, Operand]]:
        """Values that the sum may be away from another one: its number, what its terms are multiples of."""
        constant = found.polynomial.constant_part
        if constant:
            yield Polynomial.constant(constant), number(IntegerType(found.width), constant)
        if all(len(product) < 2 for product in found.polynomial.terms):
            return  # `2·x + 1` reads better than `x.1 + x`
        for product in found.polynomial.terms:
            value = self._sums.value_of(product)
            if value is not None:
                yield Polynomial({product: 1}), value
            for leader in self._leaders.find_all(_multiple(found.width, product), block):
                yield self._sums.known(leader), leader


def _key(found: Sum) -> Key:
    return ("sum", found.width, frozenset(found.polynomial.terms.items()))


def _multiple(width: int, product: Product) -> Key:
    return ("multiple", width, product)
