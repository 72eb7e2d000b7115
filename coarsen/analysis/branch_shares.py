"""Which share of work-items takes a branch, as an expression over the sizes of the launch.

    if (get_global_id(0) < n)        min(global_size(0), n) / global_size(0)
    if (get_local_id(0) == 0)        1 / local_size(0)
    if (x < width && y < height)     the product of both shares (`conditions.py`)
    if (values[i] > limit)           depends on data: no expression
    all replicas, or some of them    all, where data decide (`agreement_tests.py`)

Comparisons are made of the share of work-items that has a value below 0. For predictions only, as
`loop_counts.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from coarsen.analysis.agreement_tests import AgreementTests, LaterTest
from coarsen.analysis.algebra.numbers import relation_of
from coarsen.analysis.algebra.polynomial import ONE as ONE_FORM
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import REMAINDER, extent_of_id
from coarsen.analysis.algebra.symbols import iteration, trips
from coarsen.analysis.conditions import NO_ID, Condition, Place, Region, of_share
from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    at_least_zero,
    ceiling,
    difference,
    magnitude,
    maximum,
    minimum,
    number,
    product,
    quotient,
    total,
)
from coarsen.analysis.loop_counters import mean_of_counter, pace_of
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.analysis.means import Means
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
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

    def _of_branch(self, block: str, condition: Operand) -> Condition | None:
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
        parts = [self._share(condition, {}, 0) for condition in self._tests.first[block]]
        known = [part.true for part in parts if part is not None]
        return quotient(total(known), number(len(known))) if len(known) == len(parts) else None

    def _share(self, condition: Operand, ends: _Ends, depth: int) -> Condition | None:
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
            below, above = (self._below_zero.of(each, self._counters_in(each)) for each in (gap, _MINUS_ONE - gap))
            axis, place = self._end_of(gap)
            share = None if below is None or above is None else Condition({axis: Region(below, above, place)})
        return share if share is None or relation in ("eq", "lt", "le") else share.opposite

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
        for axis in sorted(gap.symbols):
            if extent_of_id(axis) is None and not axis.startswith(REMAINDER):
                continue
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


# The share of work-items, or of iterations, that has a value below 0.
#
#     id - n                                   min(n, global_size(0)) / global_size(0)
#     y·local_size(0) + x - n, by local ids    a row of all work-items of a group
#     group·4·local_size(0) + x - n            steps of four groups, each begun half on the mean
#
# Where more than one id decides, and not so, the answer is that of a work-item in the middle (`means.py`).


class SharesBelow:
    """The shares of a kernel's values.

    Args:
        means: of the kernel.
    """

    def __init__(self, means: Means) -> None:
        self._means = means

    def of(self, gap: Polynomial, known: Mapping[str, Expression]) -> Expression | None:
        """Return the share of work-items, or iterations, for which a value is below 0.

        Args:
            gap: the value.
            known: the means of symbols that are neither ids nor iterations.
        """
        certain = self._of_remainder(self._means.sizes.expanded(gap))
        if certain is not None:
            return certain
        gap = self._without_quotient(self._means.with_remainders(gap))
        rest, others = self._without(gap, known)
        value = self._means.sizes.resolved(rest)
        if value is None or others is None:
            return None
        varying = sorted(filter(self._means.varies, value.names))
        row = self._row(rest, [name for name in varying if extent_of_id(name) is not None])
        if row is not None:
            return self._below_in_row(*row, others)
        ids = [name for name in varying if extent_of_id(name) is not None]
        stepping = [name for name in ids if not (rest.factor_of(name) or rest).is_constant]
        if len(stepping) == 1 and len(ids) > 1:
            return self._below_in_steps(rest, stepping[0], others) or self._in_the_middle(total([value, others]))
        name = (*ids, *varying, "")[0]
        gain, extent = rest.factor_of(name), self._means.extent(name)
        if gain is None or not gain.is_constant or not gain.terms or extent is None:
            return self._in_the_middle(total([value, others]))
        inner = self._means.sizes.resolved(rest - gain * Polynomial.symbol(name))
        start = self._means.settled(inner)
        if start is None or inner is None or name in inner.names:
            return self._in_the_middle(total([value, others]))
        slope = gain.constant_part
        start = total([start, others])
        if slope < 0:  # counted from the other end
            start = total([start, product([number(slope), total([extent, number(-1)])])])
        below = product([number(-1), start])
        below = _rounded_up(below, abs(slope), is_mean=bool(known))
        return quotient(minimum(extent, at_least_zero(below)), extent)

    def _row(self, gap: Polynomial, ids: list[str]) -> tuple[Polynomial, Polynomial, Expression] | None:
        """Several ids in a row: what the value is without them, what one more adds, and how many there are."""
        if len(ids) < 2:
            return None
        first = next((name for name in ids if (gap.factor_of(name) or Polynomial({})).is_constant), None)
        gain = gap.factor_of(first) if first is not None else None
        if gain is None or gain.constant_part <= 0:
            return None
        found = self._means.in_a_row(gap, ids, gain)
        return None if found is None else (gap - found[0], gain, product(found[2]))

    def _below_in_row(
        self, start: Polynomial, gain: Polynomial, extent: Expression, others: Expression
    ) -> Expression | None:
        """The share of a row's work-items for which a value is below 0."""
        settled = self._means.settled(self._means.sizes.resolved(start))
        if settled is None:
            return None
        below = product([number(-1), total([settled, others])])
        below = _rounded_up(below, gain.constant_part, is_mean=others != ZERO)
        return quotient(minimum(extent, at_least_zero(below)), extent)

    def _below_in_steps(self, gap: Polynomial, name: str, others: Expression) -> Expression | None:
        """The share for a value that one id changes by a size, such as a group's, and others within that."""
        gain, extent = gap.factor_of(name), self._means.extent(name)
        if gain is None or extent is None or min(gain.terms.values()) < 0:
            return None
        step = self._means.sizes.resolved(gain)
        start = self._means.settled(self._means.sizes.resolved(gap - gain * Polynomial.symbol(name)))
        if step is None or start is None or any(map(self._means.varies, step.names)):
            return None
        # The last step is begun half, on the mean.
        steps = total([quotient(product([number(-1), total([start, others])]), step), number(0.5)])
        return quotient(minimum(extent, at_least_zero(steps)), extent)

    def _in_the_middle(self, gap: Expression) -> Expression | None:
        """1 where a value is below 0 for a work-item in the middle, else 0."""
        settled = self._means.settled(gap)
        return None if settled is None else minimum(ONE, at_least_zero(product([number(-1), settled])))

    def _of_remainder(self, gap: Polynomial) -> Expression | None:
        """`x % w < w` is always true, `x % w >= w` never."""
        for symbol in gap.symbols:
            piece = self._means.sizes.quotient(symbol)
            if piece is not None:
                dividend, divisor = (self._means.sizes.expanded(part) for part in piece.parts)
                remainder = dividend - divisor * Polynomial.symbol(symbol)
                if not (gap - remainder + divisor).terms:
                    return ONE
                if (gap + remainder - divisor).terms == {(): -1}:
                    return ZERO
        return None

    def _without_quotient(self, gap: Polynomial) -> Polynomial:
        """`x / w < c` as x < c·w, `x / w > c` as x >= (c + 1)·w."""
        for symbol in gap.symbols:
            piece = self._means.sizes.quotient(symbol)
            factor = gap.factor_of(symbol)
            if piece is None or factor is None:
                continue
            dividend, divisor = piece.parts
            rest = gap - factor * Polynomial.symbol(symbol)
            if factor.terms == {(): 1}:
                return self._means.sizes.expanded(dividend) + rest * divisor
            if factor.terms == {(): -1}:
                above = (rest + Polynomial.constant(1)) * divisor - Polynomial.constant(1)
                return above - self._means.sizes.expanded(dividend)
        return gap

    def _without(self, gap: Polynomial, known: Mapping[str, Expression]) -> tuple[Polynomial, Expression | None]:
        """A value without what other symbols contribute, and the mean of that."""
        others: list[Expression] = []
        for symbol, mean in known.items():
            factor = gap.factor_of(symbol)
            resolved = self._means.sizes.resolved(factor) if factor is not None else None
            if factor is None or resolved is None:
                return gap, None
            gap = gap - factor * Polynomial.symbol(symbol)
            others.append(product([resolved, mean]))
        return gap, total(others)


def _rounded_up(distance: Expression, step: int, *, is_mean: bool) -> Expression:
    """Return how many steps a distance takes: of a mean, the mean of what is rounded up."""
    if not is_mean:
        return ceiling(distance, number(step))
    return quotient(total([distance, number((step - 1) / 2)]), number(step))
