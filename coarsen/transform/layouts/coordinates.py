"""Coordinates of an array's element, what their values are less than, and what a proof demands of a launch.

All that is demanded is the same for the whole launch: it is tested once, where the kernel begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import number_of, relation_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Constant, Operand, ValueKind
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import IntegerType
from coarsen.transform.layouts.indices import IndexForms, OperandArithmetic
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX, Queries


@dataclass(frozen=True)
class Extent:
    """The extent of a dimension of the array."""

    dimension: int


@dataclass(frozen=True)
class IdsEnd:
    """What all global ids along a dimension of the NDRange are less than."""

    along: int


@dataclass(frozen=True)
class LaunchValue:
    """An argument, or one extended, plus a number, in its own bits and without a sign."""

    value: Operand
    plus: int = 0


@dataclass(frozen=True)
class ElementCount:
    """The number of the array's elements."""


Term = int | Extent | IdsEnd | LaunchValue | ElementCount


@dataclass(frozen=True)
class Demand:
    """A relation of two terms, without signs: `eq`, `ule` or `ult`, as `icmp` has it."""

    left: Term
    relation: str
    right: Term


Demands = tuple[Demand, ...]


@dataclass(frozen=True)
class Coordinate:
    """The sum of a value, without a sign, and of a number; the value is less than its dimension's extent.

    The sum may be beside the row by less than its length: then the element is one of a row beside it.

    Attributes:
        value: less than the extent if what is demanded holds.
        shift: the number, of less than the extent in either direction if what is demanded holds.
        least: the value is at least that.
        room: the value plus that is less than the extent, too.
    """

    value: Operand
    shift: int = 0
    least: int = 0
    room: int = 0

    @property
    def may_leave_row(self) -> bool:
        """Return True if the sum may be negative, or reach the extent."""
        return self.shift < -self.least or self.shift > self.room


@dataclass(frozen=True)
class Digits:
    """The coordinates of an element, the slowest dimension first, and what is to be tested for it."""

    coordinates: tuple[Coordinate, ...]
    demands: Demands


# The tests:
#
# width == W && height <= H && H·W <= 2^32        one value, the same for all work-items


class ExtentTests:
    """Builds tests at the start of a function; each only once.

    Args:
        module: in which the function is.
        function: owned by the caller.
        named: its arguments, and its instructions' results, by their names.

    Attributes:
        queries: builds what is asked of the launch.
    """

    def __init__(self, module: Module, function: Function, named: Mapping[str, Operand]) -> None:
        self.queries = Queries(module)
        self._named = named
        first = next(each for each in function.entry.instructions if each.opcode is not Opcode.ALLOCA)
        self._build = Builder(function.entry, Origin()).before(first)
        self._arithmetic = OperandArithmetic(self._build)
        self._known: dict[tuple[Demand, tuple[Operand, ...]], Operand | bool] = {}
        self._joined: dict[tuple[Operand, ...], Operand] = {}

    def all_of(self, demands: Sequence[Demand], extents: tuple[Operand, ...]) -> Operand | bool:
        """Return whether an array's extents are as demanded: known, or a truth value of the function.

        Args:
            demands: on the array and the launch.
            extents: the array's, the slowest first.
        """
        tests = [self._test(demand, extents) for demand in dict.fromkeys(demands)]
        if any(test is False for test in tests):
            return False
        open_ = tuple(dict.fromkeys(test for test in tests if not isinstance(test, bool)))
        return self._conjunction(open_) if open_ else True

    def _conjunction(self, tests: tuple[Operand, ...]) -> Operand:
        if tests not in self._joined:
            joined = tests[0]
            for test in tests[1:]:
                joined = self._build.binary(Opcode.AND, joined, test, own("ordered"))
            self._joined[tests] = joined
        return self._joined[tests]

    def _test(self, demand: Demand, extents: tuple[Operand, ...]) -> Operand | bool:
        key = (demand, extents)
        if key not in self._known:
            self._known[key] = self._tested(demand, extents)
        return self._known[key]

    def _tested(self, demand: Demand, extents: tuple[Operand, ...]) -> Operand | bool:
        left, right = (self._term(each, extents) for each in (demand.left, demand.right))
        if isinstance(left, int) and isinstance(right, int):
            return {"eq": left == right, "ule": left <= right, "ult": left < right}[demand.relation]
        first, second = (
            self._arithmetic.number(each) if isinstance(each, int) else each for each in (left, right)
        )
        return self._build.compare(demand.relation, first, second, own("fits"))

    def _term(self, term: Term, extents: tuple[Operand, ...]) -> Operand | int:
        match term:
            case Extent(dimension):
                extent = extents[dimension]
                return extent if extent.is_local else int(extent.text)
            case IdsEnd(along):
                return self._ids_end(along)
            case LaunchValue(value, plus):
                return self._argument(value, plus)
            case ElementCount():
                are_open = any(extent.is_local for extent in extents)
                return self._arithmetic.product(extents) if are_open else math.prod(int(e.text) for e in extents)
            case _:
                return term

    def _argument(self, value: Operand, plus: int) -> Operand:
        """An argument, or one extended, plus a number in its own bits, in 64 bits."""
        operand = self._named[value.text]
        if isinstance(operand, Instruction):
            operand = self._build.cast(operand.opcode, operand.operands[0], operand.type, own("extent"))
        assert isinstance(operand.type, IntegerType)
        arithmetic = OperandArithmetic(self._build, operand.type)
        return self._arithmetic.resized(Opcode.ZEXT, arithmetic.plus(operand, arithmetic.number(plus)))

    def _ids_end(self, along: int) -> Operand:
        """Return what all global ids along a dimension are less than."""
        ask = self.queries.ask
        offset, size = (ask(self._build, query, along) for query in (Query.GLOBAL_OFFSET, Query.GLOBAL_SIZE))
        return self._build.binary(Opcode.ADD, offset, size, own("end"))


# Values that a coordinate is, but for a number, and what they are less than.
#
# x < width holds          column x - 1   →   the value x, which is less than width, and the number -1
# get_global_id(0)         column x + 2   →   the value x, less than the extent if all ids are, and the number 2
# i % 64, i & 63           column i % 64  →   that value, which is less than 64

# Followed from a value to what it is made of, to see that it is not negative.
_MOST_STEPS = 4


@dataclass(frozen=True)
class Candidate:
    """What a coordinate may be, if its value is less than the extent.

    Attributes:
        coordinate: a value and a number.
        larger: the value is less than that if what is demanded holds; None for the extent itself: it is proved.
        demands: what has to hold for that.
    """

    coordinate: Coordinate
    larger: Operand | None
    demands: Demands = ()

    def with_number(self, dimension: int) -> Candidate:
        """Return it, proved, with what is demanded of its coordinate's number along a dimension."""
        number = abs(self.coordinate.shift)
        demand = (Demand(number, "ult", Extent(dimension)),) if number else ()
        return Candidate(self.coordinate, None, (*self.demands, *demand))


class CoordinateBounds:
    """Finds what values are less than, where a block is executed.

    Args:
        kernel: in normal form.
        forms: of its values.
    """

    def __init__(self, kernel: Kernel, forms: IndexForms) -> None:
        self._kernel = kernel
        self._forms = forms
        self._flow = ControlFlow(kernel)
        self._held: dict[str, tuple[Below, ...]] = {}

    def candidates(self, form: Polynomial, dimension: int, block: str) -> Iterator[Candidate]:
        """Yield values that are a form but for a number.

        Args:
            form: of a coordinate, modulo 2^width.
            dimension: along which that is.
            block: in which it is used.
        """
        number = form.number
        if number is not None:
            least = max(number, 0)
            coordinate = Coordinate(Constant(INDEX, str(least)), min(number, 0), least)
            yield Candidate(coordinate, None, (Demand(least, "ult", Extent(dimension)),))
            return
        for held in self._held_at(block):
            shift = self._distance(form, held.smaller)
            demands = self._not_negative(held.smaller) if held.is_signed else ()
            if shift is not None and demands is not None:
                least = self._least(held.smaller, block)
                yield Candidate(Coordinate(held.smaller, shift, least), held.larger, demands)
        yield from self._by_themselves(form, dimension, block)

    def _by_themselves(self, form: Polynomial, dimension: int, block: str) -> Iterator[Candidate]:
        """Yield values that are bounded by what computes them."""
        shift = form.constant_part
        instruction = self._forms.instruction(form - Polynomial.constant(shift))
        if instruction is None:
            return
        coordinate = Coordinate(instruction, shift, self._least(instruction, block))
        larger = _bound_of_result(instruction)
        if larger is not None:
            yield Candidate(coordinate, larger)
        along = self._forms.global_id(instruction)
        if along is not None:
            yield Candidate(coordinate, None, (Demand(IdsEnd(along), "ule", Extent(dimension)),))

    def _distance(self, form: Polynomial, value: Operand) -> int | None:
        """Return the number that a form is more than a value, as the smallest of either sign; None for none."""
        own = self._forms.of(value)
        if own is None or own.symbols != form.symbols:
            return None
        return (form - own).modulo(width_of(value.type)).number

    def _least(self, value: Operand, block: str) -> int:
        """Return what a value, without a sign, is at least."""
        own = self._forms.of(value)
        is_known = own is not None and own.number is None
        above = (held for held in self._held_at(block) if is_known and self._forms.of(held.larger) == own)
        numbers = map(number_of, (held.smaller for held in above))
        return max((number + 1 for number in numbers if number is not None and number >= 0), default=0)

    def _not_negative(self, value: Operand, depth: int = 0) -> Demands | None:
        """Return what has to hold so that a value with a sign is not negative; None where that isn't known."""
        number = number_of(value)
        if number is not None:
            return () if number >= 0 else None
        if value.kind is not ValueKind.INSTRUCTION or depth > _MOST_STEPS:
            return None
        instruction = self._kernel.definition[value.text]
        along = self._forms.global_id(value)
        if along is not None:
            return (Demand(IdsEnd(along), "ule", 1 << (width_of(value.type) - 1)),)
        if instruction.opcode == "zext":
            return ()
        if instruction.opcode == "phi":
            # One that only grows.
            starts = [each for each in instruction.operands if not self._is_own_step(each, instruction)]
            return self._all_not_negative(starts, depth)
        if instruction.opcode == "add" and "nsw" in instruction.flags:
            return self._all_not_negative(instruction.operands, depth)
        return None

    def _is_own_step(self, value: Operand, phi: Operand) -> bool:
        """Return True for a phi plus a positive number, which is poison where it wraps."""
        if value.kind is not ValueKind.INSTRUCTION:
            return False
        step = self._kernel.definition[value.text]
        if step.opcode != "add" or "nsw" not in step.flags or phi not in step.operands:
            return False
        return any((number_of(operand) or 0) > 0 for operand in step.operands)

    def _all_not_negative(self, values: Iterable[Operand], depth: int) -> Demands | None:
        found: Demands = ()
        for value in values:
            demands = self._not_negative(value, depth + 1)
            if demands is None:
                return None
            found += demands
        return found

    def _held_at(self, block: str) -> tuple[Below, ...]:
        """The comparisons that hold at a block, those of the nearest branches first."""
        if block not in self._held:
            found: list[Below] = []
            place, flow = block, self._flow
            while place != flow.entry and place in flow.immediate_dominator:
                sources = flow.predecessors(place)
                if len(set(sources)) == 1:
                    branch = self._kernel.block[sources[0]].terminator
                    if branch.opcode == "br" and len(set(branch.targets)) == 2:
                        holds = place == branch.targets[0]
                        found += _implied(self._kernel, branch.arguments[0], holds=holds)
                place = flow.immediate_dominator[place]
            self._held[block] = tuple(found)
        return self._held[block]


def _bound_of_result(instruction: Instruction) -> Operand | None:
    """Return what the result of a remainder, or of a mask, is less than; None where that isn't known."""
    if instruction.opcode == "urem":
        return instruction.operands[1]
    mask = number_of(instruction.operands[1]) if instruction.opcode == "and" else None
    if mask is None or not 0 <= mask < 1 << (width_of(instruction.type) - 1):
        return None
    return Constant(INDEX, str(mask + 1))


# Comparisons that hold wherever a block is executed: those of the branches that lead to it.
#
#     if (row >= height) return;
#     for (uint column = 0; column < width; column++)
#         …                                              row < height, column < width
#
# A branch's edge counts where the block that it leads to has no other way in and dominates the one that is asked
# about. The values are those of the last time that the edge was taken: what is defined above a block can't be
# defined anew between that block and one that it dominates without passing it again. Relations are of whole
# numbers without signs; of a comparison with signs, whoever asks has to show that the smaller one is not negative.

# Longer conjunctions are of no use.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Below:
    """One value is less than another of its type; `is_signed`: as numbers with signs."""

    smaller: Operand
    larger: Operand
    is_signed: bool


def _implied(kernel: Kernel, condition: Operand, *, holds: bool, depth: int = 0) -> Iterator[Below]:
    """Yield what follows from a condition that is known to hold, or not to."""
    if condition.kind is not ValueKind.INSTRUCTION or depth > _DEEPEST:
        return
    instruction = kernel.definition[condition.text]
    if instruction.opcode == "icmp":
        yield from _relation(instruction, holds=holds)
    for part, is_met in _parts(instruction, holds=holds):
        yield from _implied(kernel, part, holds=is_met, depth=depth + 1)


def _relation(comparison: Instruction, *, holds: bool) -> Iterator[Below]:
    (left, right), relation = comparison.operands, relation_of(comparison, holds=holds)
    if isinstance(left.type, IntegerType) and relation in ("lt", "gt"):
        smaller, larger = (left, right) if relation == "lt" else (right, left)
        yield Below(smaller, larger, predicate(comparison).startswith("s"))


def _parts(instruction: Instruction, *, holds: bool) -> Iterator[tuple[Operand, bool]]:
    """Yield the conditions that a condition is made of, as far as each is known, with whether it holds."""
    operands = instruction.operands
    if not isinstance(instruction.type, IntegerType) or instruction.type.width != 1:
        return
    if instruction.opcode == ("and" if holds else "or"):
        yield from ((operand, holds) for operand in operands)
    elif instruction.opcode == "xor" and number_of(operands[1]) in (1, -1):
        yield operands[0], not holds
    elif instruction.opcode == "select":
        # `a && b` is select a, b, false; `a || b` is select a, true, b.
        taken, left_out = (operands[1], operands[2]) if holds else (operands[2], operands[1])
        if number_of(left_out) is not None and bool(number_of(left_out)) != holds:
            yield operands[0], holds
            yield taken, holds
