"""The coordinates of an array's element, taken out of the index without a division, where they are proved.

    matrix[row * width + column]      row < height, column < width hold there
                                      → coordinates (row, column), if width is the extent of dimension 1,
                                        height is at most that of dimension 0, and there are at most 2^32 elements
    matrix[row * width + column - 1]  → coordinates (row, column - 1), or the last of the row before
    matrix[row * 64 + column]         → the same if 64 is the extent of dimension 1

An index is the extension of a number of w bits, or has 64 bits itself. That number is a polynomial modulo 2^w,
whatever wraps (`analysis/algebra/exact_forms.py`). From the fastest dimension on, the polynomial is Q·A + R, where
A is the same for the whole launch and R, in which A is not, is v + k modulo 2^w: v is a value that is proved to be
less than A, k a number; then Q takes its place. What is left for dimension 0 is such a sum, too, its v proved to
be less than something that is the same for the whole launch.

What a proof rests on besides is the same for the whole launch, and tested there (`coordinates.py`): each A is the
extent E of its dimension, the bound of dimension 0 is at most its extent, each k is between -E and E, and all
elements are at most 2^w, or 2^(w-1) of an index that is extended with its sign or where any k is not 0; so are the
extents of coordinates that are extended. Why that suffices:

- let N be the number of elements, and e the sum of all v + k, each times the extents of the faster dimensions.
  The sum of the v alone is from 0 to N - 1, that of the k from -(N - 1) to N - 1; so e is from -N to 2N;
- the index i is e modulo 2^w, and from 0 to N - 1, or the kernel as written accesses what is not there. So i - e
  is a multiple of 2^w between -2N and 2N, and 2N is at most 2^w: i is e. Where all k are 0, e is from 0 to N - 1,
  too, and N at most 2^w suffices;
- the v + k are then the digits of i but for carries: one that is negative, or not below its extent, is so by no
  more than the extent, even with what is carried to it, so that one row up or down mends it (`Carries`). What
  is left for dimension 0 is its digit, for i is one of the N.

A sum that is extended has to be the same number extended: with its sign if v + k is from -2^(b-1) to 2^(b-1) - 1
of b bits, for which the extent is at most 2^(b-2), or 2^(b-1) if k is 0; without if v + k is not negative, which
has to be known, and less than 2^b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, Type
from coarsen.transform.layouts.coordinates import (
    Candidate,
    Coordinate,
    CoordinateBounds,
    Demand,
    Digits,
    ElementCount,
    Extent,
    LaunchValue,
)
from coarsen.transform.layouts.indices import IndexForms, OperandArithmetic
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX

_FEWEST_BITS = 8


class DigitsOfIndices:
    """Finds coordinates in the indices of a kernel.

    Args:
        kernel: in normal form.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._forms = IndexForms(kernel)
        self._bounds = CoordinateBounds(kernel, self._forms)

    def of(self, index: Operand, block: str, dimensions: int) -> Digits | None:
        """Return the coordinates of an element; None where they are not proved.

        Args:
            index: the element's, which a `getelementptr` extends with its sign.
            block: in which the element is accessed.
            dimensions: of the array.
        """
        extension = self._forms.extension(index)
        core = extension.operands[0] if extension is not None else index
        bits = width_of(core.type) if isinstance(core.type, IntegerType) else 0
        if not _FEWEST_BITS <= bits <= INDEX.width:
            return None
        form = self._forms.of(core)
        if form is None or (extension is not None and extension.type != INDEX):
            return None
        found = self._digits(form, dimensions - 1, block)
        if found is None or bits == INDEX.width:
            return found
        is_halved = (
            extension is None or extension.opcode == "sext" or any(each.shift for each in found.coordinates)
        )
        return replace(found, demands=(*found.demands, Demand(ElementCount(), "ule", 1 << (bits - is_halved))))

    def _digits(self, form: Polynomial, dimension: int, block: str) -> Digits | None:
        """The coordinates up to a dimension."""
        if dimension == 0:
            slowest = self._proved(form, None, 0, block)
            return Digits((slowest.coordinate,), slowest.demands) if slowest is not None else None
        for outer, inner, limit, demand in self._splits(form, dimension):
            own = self._proved(inner, limit, dimension, block)
            others = self._digits(outer, dimension - 1, block) if own is not None else None
            if own is not None and others is not None:
                demands = (*others.demands, *own.demands, demand)
                return Digits((*others.coordinates, own.coordinate), demands)
        return None

    def _splits(
        self, form: Polynomial, dimension: int
    ) -> Iterator[tuple[Polynomial, Polynomial, Polynomial, Demand]]:
        """Yield (Q, R, limit, demand): a form is Q·limit + R, the limit an extent if what is demanded holds."""
        for scale in sorted(form.symbols):
            factor = self._forms.launch_value(scale)
            if factor is not None:
                demand = Demand(LaunchValue(factor), "eq", Extent(dimension))
                yield *_parted(form, scale), Polynomial.symbol(scale), demand
        for number in sorted({abs(c) for product, c in form.terms.items() if product and abs(c) > 1}):
            yield (
                *_parted_by_number(form, number),
                Polynomial.constant(number),
                Demand(number, "eq", Extent(dimension)),
            )

    # Proofs that a coordinate's value is less than another one.

    def _proved(self, form: Polynomial, limit: Polynomial | None, dimension: int, block: str) -> Candidate | None:
        """The coordinate whose form it is, along a dimension whose extent a limit is.

        Without a limit, as along dimension 0, its value is less than something that is the same for the launch.
        """
        candidates = self._bounds.candidates(form, dimension, block)
        proved = [self._within(each, limit, dimension) for each in candidates]
        found = [each for each in proved if each is not None]
        if found:
            return min(found, key=lambda each: (each.coordinate.may_leave_row, abs(each.coordinate.shift)))
        shift = form.constant_part
        extension = self._forms.extension_to_index(form - Polynomial.constant(shift))
        inner = self._forms.of(extension.operands[0]) if extension is not None else None
        if extension is None or inner is None:
            return None
        narrower = self._narrower(limit, extension.operands[0].type) if limit is not None else None
        if limit is not None and narrower is None:
            return None
        below = self._proved(inner, narrower, dimension, block)
        return _as_extended(below, extension, shift, dimension) if below is not None else None

    def _narrower(self, limit: Polynomial, type_: Type) -> Polynomial | None:
        """The number of a type of which a limit is an extension; one that is no symbol stays as it is."""
        if limit.number is not None:
            return limit
        extension = self._forms.extension_to_index(limit)
        if extension is None or extension.operands[0].type != type_:
            return None
        return self._forms.of(extension.operands[0])

    def _within(self, candidate: Candidate, limit: Polynomial | None, dimension: int) -> Candidate | None:
        """Return a candidate whose value is less than an extent, which a limit is."""
        larger, coordinate = candidate.larger, candidate.coordinate
        if larger is None:
            return candidate.with_number(dimension)
        if limit is None:
            demand = self._limit(larger)
            return _demanding(candidate, demand).with_number(dimension) if demand is not None else None
        number, form = number_of(larger), self._forms.of(larger)
        if number is not None:
            candidate = _demanding(candidate, Demand(number - 1, "ult", Extent(dimension)))
            room = max((limit.number or number) - number, 0)
            if number <= 0:
                return None
        elif form is None or form.symbols != limit.symbols:
            return None
        else:
            distance = (limit - form).modulo(width_of(larger.type)).number
            if distance is None or distance < 0:
                return None
            room = distance
            if room:
                candidate = _demanding(candidate, Demand(room, "ult", Extent(dimension)))
        return replace(candidate, coordinate=replace(coordinate, room=room)).with_number(dimension)

    def _limit(self, larger: Operand) -> Demand | None:
        """Return what makes a value a limit along dimension 0; None where it may change within a launch."""
        number, form = number_of(larger), self._forms.of(larger)
        if number is not None:
            return Demand(number - 1, "ult", Extent(0)) if number > 0 else None
        if form is None or len(form.symbols) != 1:
            return None
        (symbol,), plus = form.symbols, form.constant_part
        if form - Polynomial.constant(plus) != Polynomial.symbol(symbol):
            return None
        factor = self._forms.launch_value(symbol)
        return Demand(LaunchValue(factor, plus), "ule", Extent(0)) if factor is not None else None


def _demanding(candidate: Candidate, demand: Demand) -> Candidate:
    return replace(candidate, demands=(*candidate.demands, demand))


def _as_extended(proved: Candidate, extension: Instruction, shift: int, dimension: int) -> Candidate | None:
    """A coordinate that is the same number extended, and shifted then; None where that isn't known."""
    coordinate, bits = proved.coordinate, width_of(extension.operands[0].type)
    if coordinate.shift and bits < _FEWEST_BITS:
        return None
    if extension.opcode == "sext":
        most = bits - 2 if coordinate.shift else bits - 1
        proved = _demanding(proved, Demand(Extent(dimension), "ule", 1 << most))
    elif coordinate.shift > 0:
        proved = _demanding(proved, Demand(Extent(dimension), "ule", 1 << (bits - 1)))
    elif coordinate.shift < -coordinate.least:
        return None
    shifted = replace(proved, coordinate=replace(coordinate, shift=coordinate.shift + shift))
    return shifted.with_number(dimension) if shift else proved


def _parted(form: Polynomial, symbol: str) -> tuple[Polynomial, Polynomial]:
    """A form as (Q, R), which is Q·symbol + R, without the symbol in R."""
    outer = Polynomial({product: c for product, c in form.terms.items() if symbol in product})
    quotient = outer.divided(Polynomial.symbol(symbol))
    assert quotient is not None
    return quotient, form - outer


def _parted_by_number(form: Polynomial, number: int) -> tuple[Polynomial, Polynomial]:
    """A form as (Q, R), which is Q·number + R, the constant of R as near to 0 as can be."""
    whole = {product: c // number for product, c in form.terms.items() if product and c % number == 0}
    rounded = (form.constant_part + number // 2) // number
    quotient = Polynomial(whole) + Polynomial.constant(rounded)
    return quotient, form - quotient.scaled(number)


# Coordinates built from sums that may be beside their row: what is too little or too much is carried.
#
# column - 1 of rows of W     before = column - 1 < 0
#                             column = before ? W - 1 : column - 1
#                             row    = before ? row - 1 : row
#
# It is beside its row by less than the row's length, so that one row up or down mends it.


_Carry = tuple[Operand | None, Operand | None]
"""What is carried to a slower dimension: 1 is taken from it, or added, where that holds; None for never."""


class Carries:
    """Builds coordinates at one place of a function.

    Args:
        build: puts them there.
        operand_of: returns what a value is in that function.
    """

    def __init__(self, build: Builder, operand_of: Callable[[Operand], Operand]) -> None:
        self._build = build
        self._arithmetic = OperandArithmetic(build)
        self._operand_of = operand_of

    def coordinates(self, coordinates: Sequence[Coordinate], extents: Sequence[Operand]) -> list[Operand]:
        """Return the coordinates of an element of the array, each less than its extent.

        Args:
            coordinates: proved ones, the slowest dimension first.
            extents: the array's.
        """
        found: list[Operand] = []
        carry: _Carry = (None, None)
        for dimension in reversed(range(len(coordinates))):
            coordinate = coordinates[dimension]
            total = self._with_carry(self._total(coordinate), carry)
            if dimension:
                total, carry = self._mended(total, coordinate, carry, extents[dimension])
            found.insert(0, total)
        return found

    def _total(self, coordinate: Coordinate) -> Operand:
        value = coordinate.value
        if not value.is_local:
            return self._arithmetic.number(int(value.text) + coordinate.shift)
        wide = self._arithmetic.resized(Opcode.ZEXT, self._operand_of(value))
        return self._arithmetic.plus(wide, self._arithmetic.number(coordinate.shift))

    def _with_carry(self, total: Operand, carry: _Carry) -> Operand:
        for condition, number in zip(carry, (-1, 1), strict=True):
            if condition is not None:
                changed = self._arithmetic.plus(total, self._arithmetic.number(number))
                total = self._build.select(condition, changed, total, own("position"))
        return total

    def _mended(
        self, total: Operand, coordinate: Coordinate, carry: _Carry, extent: Operand
    ) -> tuple[Operand, _Carry]:
        """Return a sum in its row, and what is carried instead."""
        lowest = coordinate.least + coordinate.shift - (carry[0] is not None)
        highest = coordinate.shift - coordinate.room + (carry[1] is not None)
        taken, added = None, None
        mended = total
        if lowest < 0:
            taken = self._build.compare("slt", total, self._arithmetic.number(0), own("before"))
            moved = self._arithmetic.computed(Opcode.ADD, total, extent)
            mended = self._build.select(taken, moved, mended, own("position"))
        if highest > 0:
            added = self._build.compare("sge", total, extent, own("beyond"))
            moved = self._arithmetic.computed(Opcode.SUB, total, extent)
            mended = self._build.select(added, moved, mended, own("position"))
        return mended, (taken, added)
