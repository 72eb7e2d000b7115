"""How often the body of each loop runs, as an expression over the sizes of the launch.

    for (int k = 0; k < n; k += 4)                          ⌈n / 4⌉
    for (i = get_global_id(0); i < n; i += get_global_size(0))    n / global_size(0): the mean over the NDRange
    for (s = get_local_size(0) / 2; s > 0; s >>= 1)         ⌊log2(⌊local_size(0) / 2⌋)⌋ + 1
    while (next[node] >= 0)                                 depends on data: no expression

Names are those of `SizeForms`. Where a work-item's ids, or the iteration of a loop around it, decide, the
count is their mean (`means.py`). A loop that may also be left earlier, as data decide, has the count of the exit
that is known: a bound.

For predictions only. Arithmetic is taken as exact, and a count may be a mean or a bound: nothing that decides what
is legal may ask here. `trip_counts` has the numbers alone, which trained models are tied to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.numbers import COMPARE, relation_of
from coarsen.analysis.algebra.polynomial import ONE as ONE_FORM
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import SizeForms
from coarsen.analysis.algebra.symbols import iteration
from coarsen.analysis.control_flow import Loop
from coarsen.analysis.expressions import ONE, ZERO, Expression, maximum, minimum, number, total
from coarsen.analysis.loop_counters import geometric_of
from coarsen.analysis.means import Means
from coarsen.analysis.waits.states import parts
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.types import IntegerType, PointerType

_MINUS = Polynomial.constant(-1)


@dataclass(frozen=True, slots=True)
class LoopCount:
    """How often a loop's body runs each time that the loop is reached.

    Attributes:
        header: the loop's header, a block's name.
        count: the number of runs over sizes; None where it depends on data.
        is_bound: whether it is a bound, as data may end the loop earlier.
        tested_first: whether the header is left once more than the body runs, since it tests before it.
    """

    header: str
    count: Expression | None
    is_bound: bool
    tested_first: bool


class LoopCounts:
    """The counts of a kernel's loops, each found when first asked for."""

    def __init__(self, forms: IndexForms) -> None:
        self.forms = forms
        self.extents: dict[str, Expression] = {}
        self.sizes = SizeForms(forms, self._last_iteration)
        self.means = Means(self.sizes, self.extents)
        self._found: dict[str, LoopCount] = {}
        self._running: set[str] = set()

    def all(self) -> tuple[LoopCount, ...]:
        """Return the counts of all loops, outer before inner."""
        return tuple(self.of(loop.header) for loop in self.forms.control_flow.loops)

    def of(self, header: str) -> LoopCount:
        """Return the count of the loop with this header."""
        if header not in self._found:
            loop = self.forms.control_flow.loop_at[header]
            if loop.parent is not None and loop.parent not in self._running:
                self.of(loop.parent)  # its extent may be needed
            self._running.add(header)
            found = self._counted(loop)
            self._running.discard(header)
            self._found[header] = found
            if found.count is not None:
                self.extents[iteration(header)] = found.count
        return self._found[header]

    def _last_iteration(self, header: str) -> Expression | None:
        """The iteration that leaves a loop: as many as have passed the test at its head."""
        if header in self._running:
            return None
        found = self.of(header)
        if found.count is None or found.tested_first:
            return found.count
        return total([found.count, number(-1)])

    def _counted(self, loop: Loop) -> LoopCount:
        exits = dict(self._exits(loop))
        known = [passed for passed in exits.values() if passed is not None]
        if not known:
            return LoopCount(loop.header, None, False, loop.header in exits and len(loop.blocks) > 1)
        tested_first = exits.get(loop.header) is not None and len(loop.blocks) > 1
        return LoopCount(loop.header, minimum(*known), len(known) < len(exits), tested_first)

    def _exits(self, loop: Loop) -> Iterator[tuple[str, Expression | None]]:
        """The blocks that may leave a loop, each with how often the body runs; None where nothing says so."""
        flow = self.forms.control_flow
        latches = [source for source, header in flow.back_edges if header == loop.header]
        for name in flow.in_order(loop.blocks):
            branch = self.forms.kernel.block[name].terminator
            staying = [target in loop.blocks for target in branch.targets]
            if all(staying) and branch.targets:
                continue
            is_always_met = all(flow.dominates(name, latch) for latch in latches)
            is_direct = flow.loop_of[name] == loop
            if sorted(staying) != [False, True] or not is_always_met or not is_direct:
                yield name, None
                continue
            passed = self._passed(loop, branch.arguments[0], stays_if=staying[0])
            is_first = name == loop.header and len(loop.blocks) > 1
            yield name, passed if passed is None or is_first else total([passed, ONE])

    def _passed(self, loop: Loop, condition: Operand, *, stays_if: bool) -> Expression | None:
        """Return how many iterations in a row stay in the loop at a branch."""
        if condition.kind is not ValueKind.INSTRUCTION:
            return None
        test = self.forms.kernel.definition[condition.text]
        if test.opcode == "icmp" and isinstance(test.operands[0].type, IntegerType | PointerType):
            return self._compared(loop, test, stays_if=stays_if)
        for holds in (True, False):
            demanded = parts(test, holds) or []
            found = [self._passed(loop, part, stays_if=stays_if) for part, wanted in demanded if wanted is holds]
            known = [part for part in found if part is not None]
            if known and len(known) == len(demanded):
                return minimum(*known) if holds is stays_if else maximum(*known)
        return None

    def _compared(self, loop: Loop, comparison: Instruction, *, stays_if: bool) -> Expression | None:
        left, right = (self.forms.form(operand) for operand in comparison.operands)
        relation = relation_of(comparison, holds=stays_if)
        gap = self.sizes.expanded(left - right)
        counter = iteration(loop.header)
        step = gap.factor_of(counter)
        if step is None:
            return None
        changed = self._first_only(loop, gap)
        if changed is not None:
            first, others = (COMPARE[relation](each, 0) for each in changed)
            return ZERO if not first else None if others else ONE
        if step.terms:
            rest = gap - step * Polynomial.symbol(counter)
            both = rest + step
            return self._linear(relation, rest, step) if self.sizes.is_invariant(both, loop) else None
        found = geometric_of(self.sizes, loop, gap)
        return found.passed(self.means, relation) if found is not None else None

    def _first_only(self, loop: Loop, gap: Polynomial) -> tuple[int, int] | None:
        """A number that a value is in a loop's first iteration, and the one that it is in all others.

        So LLVM has a loop that goes round twice at most: `i = 0; do { … i = 1; } while (…)`.
        """
        phis = [phi for phi in self.forms.kernel.block[loop.header].phis if f"%{phi.name}" in gap.symbols]
        if len(phis) != 1 or len(gap.symbols) != 1:
            return None
        found = [0, 0]
        for value, source in zip(phis[0].operands, phis[0].incoming, strict=True):
            form = self.forms.form(value)
            if not form.is_constant:
                return None
            found[source in loop.blocks] = form.constant_part
        factor, rest = gap.factor_of(f"%{phis[0].name}"), gap.constant_part
        if factor is None or not factor.is_constant:
            return None
        return rest + factor.constant_part * found[0], rest + factor.constant_part * found[1]

    def _linear(self, relation: str, start: Polynomial, step: Polynomial) -> Expression | None:
        """Return how many k from 0 on have `start + step·k` in a relation to 0."""
        if relation in ("gt", "ge"):
            start, step = start * _MINUS, step * _MINUS
            relation = {"gt": "lt", "ge": "le"}[relation]
        rises = all(factor > 0 for factor in step.terms.values())
        falls = all(factor < 0 for factor in step.terms.values())
        if relation == "ne" and (rises or falls):
            distance, pace = (start * _MINUS, step) if rises else (start, step * _MINUS)
            return self.means.steps(distance, pace)
        if relation in ("eq", "ne") or not rises:
            return None
        distance = start * _MINUS
        return self.means.steps(distance + ONE_FORM if relation == "le" else distance, step)


# How often loops go round as numbers, where their code says so.
#
# A loop ends where a comparison of two index forms (`index_forms.py`) changes its outcome. If their difference is
# `start + step·iteration` with numbers for both, the count follows:
#
#     for (int i = 0; i < 16; ++i)                  i - 16 = -16 + iteration      16 times
#     for (int j = x; j < x + 8; j += 2)            j - (x + 8) = -8 + 2·iteration  4 times
#     for (int k = 0; k < n; ++k)                   -n + iteration                not known


def trip_counts(forms: IndexForms) -> Mapping[str, int]:
    """Return how often the body of each loop is run each time the loop is reached, by header.

    Loops whose count is not a number in the code are left out. Of several exits the one that comes first counts.
    """
    counts: dict[str, int] = {}
    for loop in forms.control_flow.loops:
        found = list(_counts(forms, loop))
        if found:
            counts[loop.header] = min(found)
    return counts


def _counts(forms: IndexForms, loop: Loop) -> Iterator[int]:
    for name in loop.blocks:
        branch = forms.kernel.block[name].terminator
        staying = [target in loop.blocks for target in branch.targets]
        if sorted(staying) != [False, True] or branch.arguments[0].kind is not ValueKind.INSTRUCTION:
            continue
        passed = _iterations_passed(forms, loop, branch, stays_if=branch.targets[0] in loop.blocks)
        if passed is not None:
            # A test at the head stands before the body, any other behind (at least part of) it.
            yield passed if name == loop.header and len(loop.blocks) > 1 else passed + 1


def _iterations_passed(forms: IndexForms, loop: Loop, branch: Instruction, *, stays_if: bool) -> int | None:
    """Return how many iterations in a row stay in the loop at a branch that may leave it."""
    comparison = forms.kernel.definition[branch.arguments[0].text]
    if comparison.opcode != "icmp":
        return None
    left, right = comparison.operands
    if not isinstance(left.type, IntegerType | PointerType):
        return None
    difference = forms.form(left) - forms.form(right)
    counter = (iteration(loop.header),)
    if any(product not in ((), counter) for product in difference.terms):
        return None
    relation = relation_of(comparison, holds=stays_if)
    return _while(relation, difference.constant_part, difference.terms.get(counter, 0))


def _while(relation: str, start: int, step: int) -> int | None:
    """For how many k from 0 on `start + step·k` stands in a relation to 0; None where that never ends."""
    if relation in ("gt", "ge"):
        return _while({"gt": "lt", "ge": "le"}[relation], -start, -step)
    if relation == "le":
        return _while("lt", start - 1, step)
    if relation == "eq":
        return 0 if start else (1 if step else None)
    if relation == "ne":
        is_met = start == 0 or (step and start % step == 0 and -start // step >= 0)
        return (-start // step if start else 0) if is_met else None
    if start >= 0:
        return 0
    return -(start // step) if step > 0 else None
