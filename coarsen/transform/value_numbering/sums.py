"""Integer arithmetic as sums of products, exact since integers of n bits are numbers modulo 2^n.

    %centre = add i32 %row, %x          row + x
    %left = sub i32 %centre, 1          row + x - 1
    %centre.1 = add i32 %row, %x.1      row + x + 1, where %x.1 = add i32 %x, 1
    %x = trunc i64 %id.1 to i32         id + 1 as 32 bits: one symbol for `id`, and 1

Where two values have the same sum they are the same number, whatever the order in which it was computed; nothing
is assumed about overflow. What is not a sum, difference or product stands for itself, as a symbol. A value that
has the sum of an earlier one, or is one addition away, is taken from it; bits that are known decide comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.exact_forms import combined, is_exact
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.expressions import Key, Leaders


@dataclass(frozen=True, slots=True)
class Sum:
    """An integer of `width` bits; `is_total` if it is poison only where one of the polynomial's symbols is.

    It is not where a part has `nsw` or `nuw`, which makes it poison where it overflows, or where a symbol cancels
    out (`x + y - y`). Such a value must not take the place of another unless it is surely defined
    (`SurelyDefined`).
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


# Sums of integers that another value is already, or from which another value is one addition away.
#
#     %mul = mul i32 %x, %height                      %mul = mul i32 %x, %height
#     %index = add i32 %mul, %y                       %index = add i32 %mul, %y
#     %mul.1 = mul i32 %x.1, %height
#     %index.1 = add i32 %mul.1, %y                   %index.1 = add i32 %index, %height
#
# A sum is written anew only where that saves an instruction.


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
        self._sums: dict[Operand, Sum] = {}
        self._symbols: dict[Operand, str] = {}
        self._values: dict[str, Operand] = {}

    def share(self, instruction: Instruction, operands: Sequence[Operand], block: str) -> Operand | Shorter | None:
        """Return a value with an instruction's sum, or a shorter way to it; None where the instruction stays.

        Args:
            instruction: with a result; what stays is found again later.
            operands: what now stands for its operands.
            block: the name of its block.
        """
        found = self._sum_of(instruction, operands)
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
        return self._value_of(found.product)

    def _remember(self, instruction: Instruction, found: Sum, block: str) -> None:
        self._sums[instruction] = found
        self._leaders.follow(_key(found), instruction, block, not found.is_total)
        if found.is_total and len(found.polynomial.terms) == 1:
            [product] = found.polynomial.terms
            self._leaders.follow(_multiple(found.width, product), instruction, block)

    def _shorter(self, operands: Sequence[Operand], found: Sum, block: str) -> Shorter | None:
        """The sum as another plus or minus one value, if an operand is then needed no more."""
        used_once = (each for each in operands if isinstance(each, Instruction) and len(each.uses) == 1)
        freed = [each for each in used_once if self._sum_of(each, each.operands) is not None]
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

    def _distances(self, found: Sum, block: str) -> Iterator[tuple[Polynomial, Operand]]:
        """Values that the sum may be away from another one: its number, what its terms are multiples of."""
        constant = found.polynomial.constant_part
        if constant:
            yield Polynomial.constant(constant), number(IntegerType(found.width), constant)
        if all(len(product) < 2 for product in found.polynomial.terms):
            return  # `2·x + 1` reads better than `x.1 + x`
        for product in found.polynomial.terms:
            value = self._value_of(product)
            if value is not None:
                yield Polynomial({product: 1}), value
            for leader in self._leaders.find_all(_multiple(found.width, product), block):
                yield self._sums[leader].polynomial, leader

    # What instructions compute, from what is known of their operands.

    def _sum_of(self, instruction: Instruction, operands: Sequence[Operand]) -> Sum | None:
        """The sum that an instruction computes; None if it is no integer arithmetic or gets too long."""
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

    def _value_of(self, product: Product | None) -> Operand | None:
        """The value that a product is; None for a number, for what was cut and for more than one symbol."""
        return self._values.get(product[0]) if product is not None and len(product) == 1 else None

    def _operand(self, operand: Operand) -> Sum:
        assert isinstance(operand.type, IntegerType)
        if operand.number is not None:
            return Sum(operand.type.width, Polynomial.constant(operand.number).modulo(operand.type.width), True)
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


def _key(found: Sum) -> Key:
    return ("sum", found.width, frozenset(found.polynomial.terms.items()))


def _multiple(width: int, product: Product) -> Key:
    return ("multiple", width, product)


# Bits of an integer that are the same whatever the work-item: what the factor and the stride leave in an id.
#
#     %item = mul i64 %call, 8            ???…?000
#     %item.1 = add i64 %item, 1          ???…?001: never 0
#
# The arithmetic is that of Regehr and Duongsaa, "Deriving abstract transfer functions for analyzing embedded
# software" (LCTES 2006), as far as ids need it.

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
    if operand.number is not None:
        return Bits(~operand.number & everything, operand.number & everything, width)
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
        return _product_of_zeros(left.trailing_zeros + right.trailing_zeros, left)
    if opcode is Opcode.SHL and is_number:
        return _product_of_zeros(left.trailing_zeros + right.ones, left)
    if opcode is Opcode.UREM and is_number and right.ones.bit_count() == 1:
        return Bits(left.zeros | right.all & ~(right.ones - 1), left.ones & (right.ones - 1), left.width)
    return Bits(0, 0, left.width)


def _product_of_zeros(zeros: int, like: Bits) -> Bits:
    return Bits((1 << min(zeros, like.width)) - 1, 0, like.width)


def _sum(left: Bits, right: Bits, carry: int) -> Bits:
    """A bit of the sum is known where both operands' bits and the carry into it are."""
    largest = (~left.zeros & left.all) + (~right.zeros & right.all) + carry
    smallest = left.ones + right.ones + carry
    no_carry = ~(largest ^ left.zeros ^ right.zeros)
    a_carry = smallest ^ left.ones ^ right.ones
    known = (left.zeros | left.ones) & (right.zeros | right.ones) & (no_carry | a_carry)
    return Bits(~largest & known, smallest & known, left.width)


TRUE, FALSE = Constant(IntegerType(1), "true"), Constant(IntegerType(1), "false")
