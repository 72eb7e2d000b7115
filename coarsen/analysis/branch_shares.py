"""Which share of work-items takes a branch, as an expression over the sizes of the launch.

    if (get_global_id(0) < n)        min(global_size(0), n) / global_size(0)
    if (get_local_id(0) == 0)        1 / local_size(0)
    if (x < width && y < height)     the product of both shares (`conditions.py`)
    if (values[i] > limit)           depends on data: no expression
    all replicas, or some of them    all, where data decide (`agreement_tests.py`)

For predictions only, as `loop_counts.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from coarsen.analysis.agreement_tests import AgreementTests, LaterTest
from coarsen.analysis.algebra.comparisons import relation_of
from coarsen.analysis.algebra.polynomial import ONE as ONE_FORM
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.symbols import iteration, trips
from coarsen.analysis.algebra.size_forms import extent_of_id
from coarsen.analysis.conditions import NO_ID, Condition, Place, Region, of_share
from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    difference,
    magnitude,
    maximum,
    minimum,
    number,
    quotient,
    total,
)
from coarsen.analysis.geometric_loops import mean_of_counter, pace_of
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.analysis.shares_below import SharesBelow
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.types import IntegerType

_DEEPEST = 20
# Less than a work-item of any launch.
_LEAST = 1e-12
_MINUS_ONE = Polynomial.constant(-1)
# Iterations of loops, by the symbols of those that leave them.
_Ends = Mapping[str, Polynomial]


def _joined(opcode: str, parts: list[Condition]) -> Condition | None:
    """Join conditions by `a && b` (also `select a, b, false`), `a || b` (`select a, true, b`) or `!a`."""
    first, second, last = parts[0], parts[min(1, len(parts) - 1)], parts[-1]
    if opcode == "freeze":
        return first
    if opcode == "xor":
        return first.opposite if last.true == ONE else None
    if opcode == "or" or (opcode == "select" and second.true == ONE):
        return first.or_else(last)
    return first.and_also(second) if opcode == "and" or last.false == ONE else None


class BranchShares:
    """The shares of a kernel's branches.

    Attributes:
        agreed: the blocks with a test of what data decide, on which the replicas are taken to agree.

    Args:
        counts: of the kernel's loops.
    """

    def __init__(self, counts: LoopCounts) -> None:
        self.agreed: dict[str, None] = {}
        self._counts = counts
        self._kernel = counts.forms.kernel
        self._known: dict[str, Condition | None] = {}
        self._below_zero = SharesBelow(counts.means)
        self._tests = AgreementTests(self._kernel, counts.forms.control_flow)

    def of_edge(self, block: str, target: str) -> Condition | None:
        """Return when a block's branch goes to one of its successors; None where data decide."""
        branch = self._kernel.block[block].terminator
        if len(set(branch.targets)) == 1:
            return of_share(ONE)
        if branch.opcode != "br":
            return None
        if block not in self._known:
            self._known[block] = self._of_branch(block, branch.arguments[0])
        condition = self._known[block]
        return condition if condition is None or target == branch.targets[0] else condition.opposite

    def _of_branch(self, block: str, condition: Value) -> Condition | None:
        """Return when a branch's condition holds.

        What several ids or data decide, replicas are taken to agree on.
        """
        found = self._share(condition, {}, 0)
        is_settled = found is not None and NO_ID not in found.regions
        later = self._tests.later.get(block)
        if later is not None and (later.ends_loop or found is None or not is_settled or len(found.regions) > 1):
            if found is None:
                self.agreed[later.first] = None
            return self._of_later(later)
        if block in self._tests.first and not is_settled:
            mean = self._mean_of_replicas(block)
            return None if mean is None else of_share(mean)
        return found

    def _of_later(self, later: LaterTest) -> Condition:
        """Return when a later test's condition holds: where the replicas agree, and where some of them part."""
        parted = ZERO if later.ends_loop or not later.is_next else self._parted_behind(later)
        is_true_agreed = later.agreed == self._kernel.block[later.block].terminator.targets[0]
        return of_share(difference(ONE, parted) if is_true_agreed else parted)

    def _parted_behind(self, later: LaterTest) -> Expression:
        """The share of parted replicas, of what gets behind the first test."""
        first = self.of_edge(later.first, self._kernel.block[later.first].terminator.targets[0])
        mean = self._mean_of_replicas(later.first)
        if first is None or mean is None or NO_ID in first.regions:
            return ZERO
        behind = first.true if later.is_behind_true else first.false
        parted = magnitude(difference(first.true, mean))
        return minimum(ONE, quotient(parted, maximum(behind, number(_LEAST))))

    def _mean_of_replicas(self, block: str) -> Expression | None:
        """The mean share of a first test's conditions; None where data decide."""
        parts = [self._share(condition, {}, 0) for condition in self._tests.first[block].conditions]
        known = [part.true for part in parts if part is not None]
        return quotient(total(known), number(len(known))) if len(known) == len(parts) else None

    def _share(self, condition: Value, ends: _Ends, depth: int) -> Condition | None:
        """The work-items for which a condition holds, in the last iteration of the loops that it comes out of."""
        if condition.kind is ValueKind.CONSTANT and condition.text in ("true", "false"):
            return of_share(ONE if condition.text == "true" else ZERO)
        if condition.kind is not ValueKind.INSTRUCTION or depth > _DEEPEST:
            return None
        instruction = self._kernel.definition[condition.text]
        if instruction.opcode == "icmp" and isinstance(instruction.operands[0].type, IntegerType):
            return self._compared(instruction, ends)
        if instruction.opcode == "phi" and len(instruction.operands) == 1:
            return self._share(instruction.operands[0], {**ends, **self._ends_of(instruction)}, depth + 1)
        parts = [self._share(operand, ends, depth + 1) for operand in instruction.operands[:3]]
        known = [part for part in parts if part is not None]
        if instruction.opcode not in ("freeze", "and", "or", "xor", "select") or len(known) < len(parts):
            return None
        return _joined(instruction.opcode, known)

    def _ends_of(self, phi: Instruction) -> _Ends:
        """The last iterations of the loops that a phi takes its value out of."""
        flow, block = self._counts.forms.control_flow, self._kernel.block_of[phi.name]
        left = [loop.header for loop in flow.loops_around(phi.incoming[0]) if block not in loop.blocks]
        return {iteration(header): Polynomial.symbol(trips(header)) for header in left}

    def _compared(self, comparison: Instruction, ends: _Ends) -> Condition | None:
        left, right = (self._counts.forms.form(operand) for operand in comparison.operands)
        gap = self._counts.sizes.expanded(left - right)
        gap = gap.replaced(lambda symbol: ends.get(symbol, Polynomial.symbol(symbol)))
        relation = relation_of(comparison)
        if relation in ("eq", "ne"):
            share = self._equal(gap)
        else:
            gap = gap if relation in ("lt", "ge") else gap - ONE_FORM
            below, above = self._below(gap), self._below(_MINUS_ONE - gap)
            axis, place = self._end_of(gap)
            share = None if below is None or above is None else Condition({axis: Region(below, above, place)})
        return share if share is None or relation in ("eq", "lt", "le") else share.opposite

    def _below(self, gap: Polynomial) -> Expression | None:
        found = self._below_zero.of(gap, self._counters_in(gap))
        return None if found is None else found.value

    def _counters_in(self, gap: Polynomial) -> dict[str, Expression]:
        """The means of counters that loops divide, by their symbols."""
        found: dict[str, Expression] = {}
        flow = self._counts.forms.control_flow
        for symbol in gap.symbols:
            phi = self._kernel.definition.get(symbol.removeprefix("%"))
            block = self._kernel.block_of.get(phi.name) if phi is not None and phi.opcode == "phi" else None
            loop = flow.loop_at.get(block) if block is not None else None
            pace = pace_of(self._counts.sizes, loop, phi) if loop is not None and phi is not None else None
            runs = self._counts.of(loop.header).count if loop is not None else None
            mean = (
                mean_of_counter(pace, self._counts.sizes, runs) if pace is not None and runs is not None else None
            )
            if mean is not None:
                found[symbol] = mean
        return found

    def _equal(self, gap: Polynomial) -> Condition | None:
        """The condition that a value is 0."""
        if _is_never_zero(gap):
            return of_share(ZERO)
        gap = self._counts.means.with_remainders(gap)
        value = self._counts.sizes.resolved(gap)
        if value is None:
            return None
        regions: dict[str, Region] = {}
        for axis in sorted(symbol for symbol in gap.symbols if self._counts.means.is_counted(symbol)):
            extent = self._counts.means.extent(axis)
            if extent is not None:
                share = quotient(ONE, extent)
                regions[axis] = Region(share, difference(ONE, share), Place.SINGLE)
        if regions:
            return Condition(regions)
        is_settled = self._counts.means.settled(value) == value
        return of_share(difference(ONE, minimum(ONE, magnitude(value)))) if is_settled else None

    def _end_of(self, gap: Polynomial) -> tuple[str, Place]:
        """The id that decides whether a value is below 0, if a single one does, and at which end it is."""
        ids = [symbol for symbol in gap.symbols if extent_of_id(symbol) is not None]
        factor = gap.factor_of(ids[0]) if len(ids) == 1 else None
        if factor is None or not factor.is_constant:
            return NO_ID, Place.OTHER
        return ids[0], Place.FIRST if factor.constant_part > 0 else Place.LAST


def _is_never_zero(gap: Polynomial) -> bool:
    """Return True for `4·x + 1` and the like: a multiple of a number, and a number that is none."""
    divisor = math.gcd(*(factor for product, factor in gap.terms.items() if product))
    return divisor > 1 and gap.constant_part % divisor != 0
