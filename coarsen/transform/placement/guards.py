"""The conditions on the way to a read, and the cells that it takes in work-items that meet them.

    if (x < w - 1 && x > 0) … a[y*w + x - 1]      the cell (y, x - 1) is read where x < w - 1 && x > 0

A cell is copied if a work-item reads it, which the cell tells: of the ids that the conditions are made of, each is
alone along one of the axes, but for counters, each of whose values is looked at by itself. Conditions are computed
anew for this work-item (`box_copy.py`), so nothing is read that is not read in the kernel as it is written.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.loop_counters import Counter
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.transform.placement.boxes import Conditions, Span, Taking

UNIFORM_QUERIES = frozenset(
    {Query.GROUP_ID, Query.GLOBAL_SIZE, Query.LOCAL_SIZE, Query.GROUP_COUNT, Query.GLOBAL_OFFSET}
)
"""Those with a dimension that all work-items of a group get the same answer to."""
PURE = frozenset(
    {"add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "trunc", "sext", "zext", "freeze"}
)
"""What may be computed anywhere: it neither traps nor looks at memory."""
PURE_CONDITIONS = PURE | {"icmp", "select"}
"""What conditions may be made of."""
# Of counters, so many values are looked at for each cell.
_MOST_VALUES = 16


@dataclass(frozen=True, slots=True)
class Guards:
    """Finds the conditions on the way to a kernel's reads.

    Args:
        kernel: in normal form.
        flow: of the kernel.
        counters: of its loops, by name.
        given: names of values that are the same for all work-items of a group, and known where boxes are copied.
        start: the block from which the way begins, if not the kernel's entry; it's the header of a loop.
    """

    kernel: Kernel
    flow: ControlFlow
    counters: Mapping[str, Counter]
    given: Collection[str]
    start: str | None

    def conditions(self, read: Instruction) -> Conditions | None:
        """Return the conditions on the way to a read; None unless all that decides is known.

        In loops with counters it is read in each round in which they hold.
        """
        flow, counted = self.flow, {counter.loop.header for counter in self.counters.values()}
        place = self.kernel.block_of[read.name]
        loops = [each for each in flow.loops_around(place) if each.header == self.start or self._is_inside(each)]
        rounds = {loop.header for loop in loops}
        # A header is passed once more, when the loop is left.
        if not rounds <= counted or place in rounds:
            return None
        found: list[tuple[str, bool]] = []
        while place != self.start:
            around = flow.loops_around(place)
            own = {name for loop in around if loop.header == place for name in loop.blocks}
            edges = [(branch, target) for branch, target in flow.deciding_edges[place] if branch not in own]
            if not edges and self.start is None:
                return tuple(found[::-1]) if place in flow.immediate_post_dominator else None
            if len(edges) != 1:
                return None
            [(branch, target)] = edges
            if branch in rounds:
                place = branch
                continue
            within = [loop for loop in around if loop.header != place]
            terminator = self.kernel.block[branch].terminator
            if flow.loops_around(branch) != within or len(set(terminator.targets)) != 2:
                return None
            condition = terminator.arguments[0]
            if terminator.opcode != "br" or condition.kind is not ValueKind.INSTRUCTION:
                return None
            found.append((condition.text, target == terminator.targets[0]))
            place = branch
        return tuple(found[::-1])

    def _is_inside(self, loop: Loop) -> bool:
        return self.start is None or self.start not in loop.blocks

    def takings(self, read: Instruction, spans: Sequence[Span], conditions: Conditions) -> list[Taking] | None:
        """Return the cells that a read takes along the axes; None unless a cell tells whether it is read."""
        if not conditions:
            return [Taking(tuple(spans))]
        made_of = self._made_of(read, conditions)
        if made_of is None:
            return None
        ids, names = made_of
        along = [span for span in spans if ids & {dimension for dimension, _ in span.ids}]
        names |= {counter.phi for span in along for counter, _ in span.counters}
        fixed = [self.counters[name] for name in sorted(names)]
        told = {dimension for span in along for dimension, _ in span.ids}
        is_many = math.prod(each.greatest - each.least + 1 for each in fixed) > _MOST_VALUES
        if is_many or not ids <= told or any(len(span.ids) > 1 for span in along):
            return None
        values = itertools.product(*(range(each.least, each.greatest + 1) for each in fixed))
        chosen = (dict(zip(sorted(names), each, strict=True)) for each in values)
        return [
            Taking(tuple(_at(span, each) for span in spans), conditions, tuple(each.items())) for each in chosen
        ]

    def _made_of(self, read: Instruction, conditions: Conditions) -> tuple[set[int], set[str]] | None:
        """The dimensions of the ids, and the counters, that conditions are made of; None for anything else."""
        ids: set[int] = set()
        counters: set[str] = set()
        for each in self._computed(conditions):
            query, dimension = query_of(each), queried_dimension(each)
            is_known = dimension is not None and dimension in range(DIMENSIONS)
            if query in (Query.GLOBAL_ID, Query.LOCAL_ID) and dimension is not None and is_known:
                ids.add(dimension)
            elif each.name in self.counters:
                if self.kernel.block_of[read.name] not in self.counters[each.name].loop.blocks:
                    return None
                counters.add(each.name)
            elif not (query in UNIFORM_QUERIES and is_known) and each.opcode not in PURE_CONDITIONS:
                return None
        return ids, counters

    def _computed(self, conditions: Conditions) -> Iterator[Instruction]:
        """The instructions by which conditions are computed of what is given."""
        seen = set(self.given)
        waiting: list[Operand] = [self.kernel.definition[name] for name, _ in conditions]
        while waiting:
            found = waiting.pop()
            if isinstance(found, Instruction) and found.name not in seen:
                seen.add(found.name)
                yield found
                if found.name not in self.counters:
                    waiting += found.arguments


def _at(span: Span, values: Mapping[str, int]) -> Span:
    """A span at values of some of its counters."""
    added = sum(scale * values[counter.phi] for counter, scale in span.counters if counter.phi in values)
    left = tuple((counter, scale) for counter, scale in span.counters if counter.phi not in values)
    return Span(span.offset + added, span.ids, left)
