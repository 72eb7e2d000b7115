"""The coordinates of an array's element, taken out of the index without a division, where they are proved.

    matrix[row * width + column]      row < height, column < width hold there
                                      → coordinates (row, column), if width is the extent of dimension 1,
                                        height is at most that of dimension 0, and there are at most 2^32 elements

An index is the extension of a number of w bits, or has 64 bits itself. That number is a polynomial modulo 2^w,
whatever wraps (`analysis/algebra/bit_exact.py`). From the fastest dimension on, the polynomial is Q·A + R, where A
is the same for the whole launch and R, in which A is not, is proved to be less than A; then Q takes its place.
What is left for dimension 0 is proved to be less than something that is the same for the whole launch.

What a proof rests on besides is the same for the whole launch, and tested there (`Demand`): each A is the
extent of its dimension, the bound of dimension 0 is at most its extent, and all elements are at most 2^w,
or 2^(w-1) of an index that is extended with its sign; so are the extents of coordinates that are. Then the sum of
the coordinates, each times the extents of the faster dimensions, is less than the number of elements: it does not
wrap, the index is that sum of whole numbers, and they are its digits, of which there is only one choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.algebra.bit_exact import combined, is_exact
from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.held_comparisons import Below, held_at
from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.ir.types import IntegerType
from coarsen.transform.index_type import INDEX

# Deeper expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_DEEPEST = 24
# Followed from a value to what it is made of, to see that it is not negative.
_MOST_STEPS = 4
_EXTENSIONS = ("sext", "zext")


@dataclass(frozen=True)
class IsExtent:
    """A value, without a sign, is the extent of a dimension."""

    value: Value
    dimension: int


@dataclass(frozen=True)
class IsAtMostExtent:
    """A value, without a sign, is at most the extent of a dimension."""

    value: Value
    dimension: int


@dataclass(frozen=True)
class IsNumberBelow:
    """A number is less than the extent of a dimension."""

    number: int
    dimension: int


@dataclass(frozen=True)
class AreIdsWithin:
    """All global ids along a dimension of the NDRange are less than the extent of one of the array."""

    along: int
    dimension: int


@dataclass(frozen=True)
class AreIdsBelow:
    """All global ids along a dimension of the NDRange are less than 2^bits."""

    along: int
    bits: int


@dataclass(frozen=True)
class IsExtentAtMost:
    """The extent of a dimension is at most 2^bits."""

    dimension: int
    bits: int


@dataclass(frozen=True)
class AreElementsAtMost:
    """The array has at most 2^bits elements."""

    bits: int


Demand = (
    IsExtent | IsAtMostExtent | IsNumberBelow | AreIdsWithin | AreIdsBelow | IsExtentAtMost | AreElementsAtMost
)
_Demands = tuple[Demand, ...]


@dataclass(frozen=True)
class Coordinate:
    """A value that is less than its dimension's extent if what is demanded holds; without a sign."""

    value: Value
    demands: _Demands = ()


@dataclass(frozen=True)
class Digits:
    """The coordinates of an element, the slowest dimension first, and what is to be tested for it."""

    coordinates: tuple[Value, ...]
    demands: _Demands


class DigitsOfIndices:
    """Finds coordinates in the indices of a kernel.

    Args:
        kernel: in normal form.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._forms: dict[Value, Polynomial | None] = {}
        self._held: dict[str, tuple[Below, ...]] = {}

    def of(self, index: Value, block: str, dimensions: int) -> Digits | None:
        """Return the coordinates of an element; None where they are not proved.

        Args:
            index: the element's, which a `getelementptr` extends with its sign.
            block: in which the element is accessed.
            dimensions: of the array.
        """
        extension = self._extension(index)
        core = extension.operands[0] if extension is not None else index
        bits = width_of(core.type) if isinstance(core.type, IntegerType) else 0
        if not 8 <= bits <= INDEX.width:
            return None
        form = self._form(core)
        if form is None or (extension is not None and extension.type != INDEX):
            return None
        found = self._digits(form, dimensions - 1, block)
        if found is None or bits == INDEX.width:
            return found
        is_signed = extension is None or extension.opcode == "sext"
        return Digits(found.coordinates, (*found.demands, AreElementsAtMost(bits - 1 if is_signed else bits)))

    def _digits(self, form: Polynomial, dimension: int, block: str) -> Digits | None:
        """The coordinates up to a dimension."""
        if dimension == 0:
            slowest = self._at_slowest(form, block)
            return Digits((slowest.value,), slowest.demands) if slowest is not None else None
        for scale in sorted(form.symbols):
            factor = self._launch_value(scale)
            if factor is None:
                continue
            outer, inner = _parted(form, scale)
            own = self._below(inner, Polynomial.symbol(scale), dimension, block)
            others = self._digits(outer, dimension - 1, block) if own is not None else None
            if own is not None and others is not None:
                demands = (*others.demands, *own.demands, IsExtent(factor, dimension))
                return Digits((*others.coordinates, own.value), demands)
        return None

    # Proofs that a value is less than another.

    def _below(self, form: Polynomial, limit: Polynomial, dimension: int, block: str) -> Coordinate | None:
        """The value of a form that is less than an extent, which a limit is."""
        for coordinate, larger in self._bounded(form, dimension, block):
            if larger is None or self._form(larger) == limit:
                return coordinate
        extension, by = self._extension_to_index(form), self._extension_to_index(limit)
        if extension is None or by is None or extension.operands[0].type != by.operands[0].type:
            return None
        own, inner = self._form(extension.operands[0]), self._form(by.operands[0])
        if own is None or inner is None:
            return None
        found = self._below(own, inner, dimension, block)
        return _as_extended(found, extension, dimension) if found is not None else None

    def _at_slowest(self, form: Polynomial, block: str) -> Coordinate | None:
        """The value of a form that is less than something that is the same for the whole launch."""
        for coordinate, larger in self._bounded(form, 0, block):
            if larger is None:
                return coordinate
            limit = self._limit(larger)
            if limit is not None:
                return Coordinate(coordinate.value, (*coordinate.demands, limit))
        extension = self._extension_to_index(form)
        inner = self._form(extension.operands[0]) if extension is not None else None
        found = self._at_slowest(inner, block) if inner is not None else None
        return _as_extended(found, extension, 0) if found is not None and extension is not None else None

    def _limit(self, larger: Value) -> Demand | None:
        """Return what makes a value a limit along dimension 0; None where it may change within a launch."""
        number = number_of(larger)
        if number is not None:
            return IsNumberBelow(number - 1, 0) if number > 0 else None
        form = self._form(larger)
        symbols = [] if form is None else list(form.symbols)
        if form is None or len(symbols) != 1 or form != Polynomial.symbol(symbols[0]):
            return None
        factor = self._launch_value(symbols[0])
        return IsAtMostExtent(factor, 0) if factor is not None else None

    def _bounded(self, form: Polynomial, dimension: int, block: str) -> Iterator[tuple[Coordinate, Value | None]]:
        """Yield the value of a form with what it is less than, None for the extent of a dimension."""
        number = form.number
        if number is not None:
            if number >= 0:
                constant = Value(ValueKind.CONSTANT, INDEX, str(number))
                yield Coordinate(constant, (IsNumberBelow(number, dimension),)), None
            return
        for held in self._held_at(block):
            if self._form(held.smaller) == form:
                demands = self._not_negative(held.smaller) if held.is_signed else ()
                if demands is not None:
                    yield Coordinate(held.smaller, demands), held.larger
        instruction = self._symbol(form)
        if instruction is None:
            return
        value = Value(ValueKind.INSTRUCTION, instruction.type, instruction.name)
        if instruction.opcode == "urem":
            yield Coordinate(value), instruction.operands[1]
        along = self._global_id(value)
        if along is not None:
            yield Coordinate(value, (AreIdsWithin(along, dimension),)), None

    def _not_negative(self, value: Value, depth: int = 0) -> _Demands | None:
        """Return what has to hold so that a value with a sign is not negative; None where that isn't known."""
        number = number_of(value)
        if number is not None:
            return () if number >= 0 else None
        if value.kind is not ValueKind.INSTRUCTION or depth > _MOST_STEPS:
            return None
        instruction = self._kernel.definition[value.text]
        along = self._global_id(value)
        if along is not None:
            return (AreIdsBelow(along, width_of(value.type) - 1),)
        if instruction.opcode == "zext":
            return ()
        if instruction.opcode == "phi":
            return self._counts_up(instruction, depth)
        if instruction.opcode == "add" and "nsw" in instruction.flags:
            return self._all_not_negative(instruction.operands, depth)
        return None

    def _counts_up(self, phi: Instruction, depth: int) -> _Demands | None:
        """Return what has to hold so that a phi, which only grows, is not negative."""
        own = Value(ValueKind.INSTRUCTION, phi.type, phi.name)
        starts = [value for value in phi.operands if not self._is_own_step(value, own)]
        return self._all_not_negative(tuple(starts), depth)

    def _is_own_step(self, value: Value, phi: Value) -> bool:
        """Return True for a phi plus a positive number, which is poison where it wraps."""
        if value.kind is not ValueKind.INSTRUCTION:
            return False
        step = self._kernel.definition[value.text]
        if step.opcode != "add" or "nsw" not in step.flags or phi not in step.operands:
            return False
        return any((number_of(operand) or 0) > 0 for operand in step.operands)

    def _all_not_negative(self, values: tuple[Value, ...], depth: int) -> _Demands | None:
        found: _Demands = ()
        for value in values:
            demands = self._not_negative(value, depth + 1)
            if demands is None:
                return None
            found += demands
        return found

    # What values are.

    def _form(self, value: Value, depth: int = 0) -> Polynomial | None:
        """The polynomial of an integer, modulo 2^width; None of an undefined one."""
        if value not in self._forms:
            self._forms[value] = self._computed_form(value, depth)
        return self._forms[value]

    def _computed_form(self, value: Value, depth: int) -> Polynomial | None:
        number = number_of(value)
        if number is not None:
            return Polynomial.constant(number)
        if not value.is_local:
            return None
        instruction = self._kernel.definition.get(value.text)
        if instruction is not None and is_exact(instruction.opcode) and depth < _DEEPEST:
            parts = [self._form(operand, depth + 1) for operand in instruction.operands]
            if parts[0] is not None and parts[1] is not None and isinstance(value.type, IntegerType):
                found = combined(instruction.opcode, parts[0], parts[1], value.type.width)
                if found is not None:
                    return found
        return Polynomial.symbol(value.text)

    def _symbol(self, form: Polynomial) -> Instruction | None:
        """The instruction whose result is all of a form."""
        if len(form.symbols) != 1:
            return None
        (symbol,) = form.symbols
        return self._kernel.definition.get(symbol) if form == Polynomial.symbol(symbol) else None

    def _launch_value(self, symbol: str) -> Value | None:
        """The value of a symbol that is an argument, or one extended; None for any other."""
        instruction = self._kernel.definition.get(symbol)
        if instruction is None:
            return Value(ValueKind.ARGUMENT, self._kernel.type_of[symbol], symbol)
        if instruction.opcode in _EXTENSIONS and instruction.operands[0].kind is ValueKind.ARGUMENT:
            return Value(ValueKind.INSTRUCTION, instruction.type, symbol)
        return None

    def _extension(self, value: Value) -> Instruction | None:
        """The instruction that extends a value; None for any other value."""
        if value.kind is not ValueKind.INSTRUCTION:
            return None
        instruction = self._kernel.definition[value.text]
        return instruction if instruction.opcode in _EXTENSIONS else None

    def _extension_to_index(self, form: Polynomial) -> Instruction | None:
        """Return the extension to 64 bits whose result is all of a form."""
        instruction = self._symbol(form)
        if instruction is None or instruction.opcode not in _EXTENSIONS:
            return None
        return instruction if instruction.type == INDEX else None

    def _global_id(self, value: Value) -> int | None:
        """The dimension along which a value is the global id, or its low bits."""
        instruction = self._kernel.definition.get(value.text)
        if instruction is not None and instruction.opcode == "trunc":
            instruction = self._kernel.definition.get(instruction.operands[0].text)
        if instruction is None or query_of(instruction) is not Query.GLOBAL_ID:
            return None
        along = queried_dimension(instruction)
        return along if along is not None and 0 <= along < DIMENSIONS else None

    @cached_property
    def _flow(self) -> ControlFlow:
        return ControlFlow(self._kernel)

    def _held_at(self, block: str) -> tuple[Below, ...]:
        if block not in self._held:
            self._held[block] = held_at(self._kernel, self._flow, block)
        return self._held[block]


def _as_extended(coordinate: Coordinate, extension: Instruction, dimension: int) -> Coordinate:
    """A coordinate that is the same number extended: with its sign it is if that is never set below the extent."""
    if extension.opcode == "zext":
        return coordinate
    bits = width_of(extension.operands[0].type) - 1
    return Coordinate(coordinate.value, (*coordinate.demands, IsExtentAtMost(dimension, bits)))


def _parted(form: Polynomial, symbol: str) -> tuple[Polynomial, Polynomial]:
    """A form as (Q, R), which is Q·symbol + R, without the symbol in R."""
    outer = Polynomial({product: c for product, c in form.terms.items() if symbol in product})
    quotient = outer.divided(Polynomial.symbol(symbol))
    assert quotient is not None
    return quotient, form - outer
