"""Coordinates of an array's element that are proved, what the proof demands of a launch, and the tests of that.

All that is demanded is the same for the whole launch: it is tested once, where the kernel begins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import IntegerType
from coarsen.transform.layouts.index_forms import OperandArithmetic
from coarsen.transform.names import own
from coarsen.transform.prologue import Queries


@dataclass(frozen=True)
class IsExtent:
    """A value, without a sign, is the extent of a dimension."""

    value: Operand
    dimension: int


@dataclass(frozen=True)
class IsExtentNumber:
    """A number is the extent of a dimension."""

    number: int
    dimension: int


@dataclass(frozen=True)
class IsAtMostExtent:
    """A value plus a number, in the value's bits and without a sign, is at most the extent of a dimension."""

    value: Operand
    dimension: int
    plus: int = 0


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
    IsExtent
    | IsExtentNumber
    | IsAtMostExtent
    | IsNumberBelow
    | AreIdsWithin
    | AreIdsBelow
    | IsExtentAtMost
    | AreElementsAtMost
)
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

# An extent of 64 bits is never less than that.
_MOST_BITS = 64


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
        match demand:
            case IsExtent(value, dimension):
                return self._compare("eq", self._argument(value), extents[dimension])
            case IsExtentNumber(number, dimension):
                return self._compare("eq", self._arithmetic.number(number), extents[dimension])
            case IsAtMostExtent(value, dimension, plus):
                return self._compare("ule", self._argument(value, plus), extents[dimension])
            case IsNumberBelow(least, dimension):
                return self._compare("ult", self._arithmetic.number(least), extents[dimension])
            case AreIdsWithin(along, dimension):
                return self._compare("ule", self._ids_end(along), extents[dimension])
            case AreIdsBelow(along, bits):
                return bits >= _MOST_BITS or self._compare(
                    "ule", self._ids_end(along), self._arithmetic.number(1 << bits)
                )
            case IsExtentAtMost(dimension, bits):
                return self._compare("ule", extents[dimension], self._arithmetic.number(1 << bits))
            case AreElementsAtMost(bits):
                return self._are_at_most(bits, extents)

    def _are_at_most(self, bits: int, extents: tuple[Operand, ...]) -> Operand | bool:
        if not any(extent.is_local for extent in extents):
            return math.prod(int(extent.text) for extent in extents) <= 1 << bits
        return self._compare("ule", self._arithmetic.product(extents), self._arithmetic.number(1 << bits))

    def _compare(self, predicate: str, left: Operand, right: Operand) -> Operand | bool:
        if left.is_local or right.is_local:
            return self._build.compare(predicate, left, right, own("fits"))
        first, second = int(left.text), int(right.text)
        return {"eq": first == second, "ule": first <= second, "ult": first < second}[predicate]

    def _argument(self, value: Operand, plus: int = 0) -> Operand:
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
