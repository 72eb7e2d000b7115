"""Between which numbers an index is, whatever the work-item: so an address stays in an array inside of a record.

    %k = and i32 %n, 1                 0 … 1
    %j = urem i32 %n, 3                0 … 2
    %i = phi i32 [ 0, … ], [ … ]       0 … 2     a counter, in the body of for (int i = 0; i < 3; ++i)
    %s = add i32 %k, %i                0 … 3     no sum that could wrap

Numbers are signed, as `getelementptr` takes them. An operation whose exact result may not fit its type has any
value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.loop_counters import Counter, counters_of
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import Query, queried_dimension, query_named
from coarsen.ir.types import IntegerType

# An index is a handful of operations away from what is known.
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Interval:
    """All whole numbers from `least` to `greatest`."""

    least: int
    greatest: int

    @property
    def length(self) -> int:
        """Return the distance of its ends."""
        return self.greatest - self.least

    def within(self, width: int) -> Interval:
        """Return the numbers if a type has them all, or else all that the type has."""
        every = _every(width)
        return self if every.least <= self.least and self.greatest <= every.greatest else every

    def joined(self, other: Interval) -> Interval:
        """Return what has the numbers of both."""
        return Interval(min(self.least, other.least), max(self.greatest, other.greatest))


def _every(width: int) -> Interval:
    return Interval(-(1 << (width - 1)), (1 << (width - 1)) - 1)


class Bounds:
    """Finds between which numbers indices of a kernel are.

    Args:
        kernel: in normal form, of which the graph of the operands is a copy, not yet rewritten.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @cached_property
    def _counters(self) -> Mapping[str, Counter]:
        return counters_of(self._kernel, ControlFlow(self._kernel))

    def of(self, index: Operand, user: Instruction) -> Interval | None:
        """Return between which numbers an index is where it is used; None where nothing is known.

        Args:
            index: an integer.
            user: the instruction that uses it.
        """
        if not isinstance(index.type, IntegerType) or user.block is None:
            return None
        found = self._bounded(index, user.block.name, _MOST_STEPS)
        return None if found == _every(index.type.width) else found

    def _bounded(self, value: Operand, block: str, steps: int) -> Interval:
        """Return the bounds of a value that is used in a block; what a phi merges is used where it comes from."""
        assert isinstance(value.type, IntegerType)
        width = value.type.width
        if isinstance(value, Constant):
            number = value.number
            return _every(width) if number is None else Interval(number, number).within(width)
        if not isinstance(value, Instruction) or not steps or value.block is None:
            return _every(width)
        if value.opcode is Opcode.PHI:
            return self._phi(value, block, width, steps)
        if value.opcode is Opcode.CALL:
            return self._local_id(value, width)
        rule = _RULES.get(value.opcode)
        operands = value.operands[1:] if value.opcode is Opcode.SELECT else value.operands
        widths = [each.type.width for each in operands if isinstance(each.type, IntegerType)]
        if rule is None or len(widths) < len(operands):
            return _every(width)
        found = rule([self._bounded(each, value.block.name, steps - 1) for each in operands], widths)
        return _every(width) if found is None else found.within(width)

    def _phi(self, phi: Instruction, block: str, width: int, steps: int) -> Interval:
        counter = self._counters.get(phi.name)
        if counter is None:
            found: Interval | None = None
            for value, source in phi.edges():
                each = self._bounded(value, source.name, steps - 1)
                found = each if found is None else found.joined(each)
            return _every(width) if found is None else found
        if block in counter.loop.blocks and block != counter.loop.header:
            return Interval(counter.least, counter.greatest)
        # Where the loop is left it is one more, or one less if it counts down.
        return Interval(counter.least - 1, counter.greatest + 1).within(width)

    def _local_id(self, call: Instruction, width: int) -> Interval:
        sizes, along = self._kernel.required_work_group_size, queried_dimension(call)
        if sizes is None or along is None or query_named(call.callee) is not Query.LOCAL_ID:
            return _every(width)
        if not 0 <= along < len(sizes):
            return _every(width)
        return Interval(0, sizes[along] - 1).within(width)


# The exact result of an operation on numbers between bounds, of types of so many bits; None where it may be any.
_Rule = Callable[[list[Interval], list[int]], Interval | None]


def _product(known: list[Interval], _: list[int]) -> Interval:
    left, right = known
    corners = [one * other for one in (left.least, left.greatest) for other in (right.least, right.greatest)]
    return Interval(min(corners), max(corners))


def _masked(known: list[Interval], _: list[int]) -> Interval | None:
    """A number that is not negative has no bit in which the other one could be larger."""
    greatest = [each.greatest for each in known if each.least >= 0]
    return Interval(0, min(greatest)) if greatest else None


def _unsigned_remainder(known: list[Interval], _: list[int]) -> Interval | None:
    value, divisor = known
    if divisor.least < 1:
        return None
    most = divisor.greatest - 1
    return Interval(0, min(most, value.greatest) if value.least >= 0 else most)


def _signed_remainder(known: list[Interval], _: list[int]) -> Interval | None:
    value, divisor = known
    if divisor.least < 1:
        return None
    most = divisor.greatest - 1
    return Interval(max(-most, min(value.least, 0)), min(most, max(value.greatest, 0)))


def _quotient(known: list[Interval], _: list[int]) -> Interval | None:
    value, divisor = known
    if divisor.least < 1 or value.least < 0:
        return None
    return Interval(value.least // divisor.greatest, value.greatest // divisor.least)


def _shifted_left(known: list[Interval], widths: list[int]) -> Interval | None:
    value, distance = known
    if not 0 <= distance.least == distance.greatest < widths[0]:
        return None
    return Interval(value.least << distance.least, value.greatest << distance.least)


def _shifted_right(known: list[Interval], widths: list[int]) -> Interval | None:
    """The top bits are gone, those of the sign of a number that may be negative among them."""
    value, distance = known
    if not 0 <= distance.least == distance.greatest < widths[0]:
        return None
    if value.least < 0:
        return Interval(0, (1 << (widths[0] - distance.least)) - 1)
    return Interval(value.least >> distance.least, value.greatest >> distance.least)


_RULES: Mapping[Opcode, _Rule] = {
    Opcode.ADD: lambda known, _: Interval(sum(x.least for x in known), sum(x.greatest for x in known)),
    Opcode.SUB: lambda known, _: Interval(known[0].least - known[1].greatest, known[0].greatest - known[1].least),
    Opcode.MUL: _product,
    Opcode.AND: _masked,
    Opcode.UREM: _unsigned_remainder,
    Opcode.SREM: _signed_remainder,
    Opcode.UDIV: _quotient,
    Opcode.SDIV: _quotient,
    Opcode.SHL: _shifted_left,
    Opcode.LSHR: _shifted_right,
    Opcode.ZEXT: lambda known, widths: known[0] if known[0].least >= 0 else Interval(0, (1 << widths[0]) - 1),
    Opcode.SEXT: lambda known, _: known[0],
    Opcode.TRUNC: lambda known, _: known[0],
    Opcode.SELECT: lambda known, _: known[0].joined(known[1]),
}
