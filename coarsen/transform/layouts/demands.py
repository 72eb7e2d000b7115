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
