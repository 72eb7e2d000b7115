"""How often each block runs for a work-item, on the mean over the NDRange, as an expression over sizes.

    a loop's blocks      the loop's runs (`loop_counts.py`); a header that tests first, once more
    a guarded block      the share of work-items that takes the branch (`branch_shares.py`)

Where data decide, a loop is taken to go round 8 times, and both ways of a branch to be taken by all; so it is where
a size has no value when the expression is evaluated. For predictions only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from coarsen.analysis.branch_shares import BranchShares
from coarsen.analysis.control_flow import Loop
from coarsen.analysis.expressions import ONE, ZERO, Expression, number, otherwise, product, total
from coarsen.analysis.loop_counts import LoopCounts

ASSUMED_TRIPS = 8
"""How often a loop goes round of which nothing says how often."""

# A branching block and the successor that it goes to.
_Edge = tuple[str, str]


class Executions:
    """How often the blocks of a kernel run.

    Args:
        counts: of its loops.
    """

    def __init__(self, counts: LoopCounts) -> None:
        self._counts = counts
        self._shares = BranchShares(counts)
        self._flow = counts.forms.control_flow
        self._entered: dict[str, Expression] = {}
        self._bodies: dict[str, Expression] = {}
        self._found: dict[str, Expression] = {}
        self._undecided: dict[str, None] = {}
        for block in self._flow.reverse_postorder:
            self._found[block] = self._executions(block)

    def of(self, block: str) -> Expression:
        """Return how often a block runs; one that can't be reached never does."""
        return self._found.get(block, ZERO)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The blocks whose branches data decide, so far as they guard other blocks."""
        return tuple(self._undecided)

    def _executions(self, block: str) -> Expression:
        loop = self._flow.loop_of[block]
        if loop is None or loop.header != block:
            return self._from_branches(block, loop)
        outer = self._flow.loop_at[loop.parent] if loop.parent is not None else None
        entered = self._from_branches(block, outer, entering=loop)
        found = self._counts.of(block)
        assumed = number(ASSUMED_TRIPS)
        runs = assumed if found.count is None else otherwise(found.count, assumed)
        self._entered[block], self._bodies[block] = entered, product([entered, runs])
        return product([entered, total([runs, ONE])]) if found.tested_first else self._bodies[block]

    def _from_branches(self, block: str, around: Loop | None, entering: Loop | None = None) -> Expression:
        """How often a block runs by the branches that decide on it, in the body of the loop around it."""
        whole = ONE if around is None else self._bodies[around.header]
        edges = [edge for edge in self._deciding[block] if self._counts_for(edge[0], around, entering)]
        if not edges:
            return whole
        shares = [self._share(edge, around) for edge in edges]
        if len(edges) > 1 and any(share is None for share in shares):
            first = self._flow.common_dominator(source for source, _ in edges)
            return self._at(first, around) if around is None or first in around.blocks else whole
        return total(
            product([self._at(source, around), ONE if share is None else otherwise(share, ONE)])
            for (source, _), share in zip(edges, shares, strict=True)
        )

    def _counts_for(self, source: str, around: Loop | None, entering: Loop | None) -> bool:
        """Whether a branch guards something in a loop's body: one that leaves the loop is in the loop's count."""
        if source not in self._flow.place or (entering is not None and source in entering.blocks):
            return False
        if around is None:
            return True
        return source in around.blocks and all(t in around.blocks for t in self._flow.successors(source))

    def _share(self, edge: _Edge, around: Loop | None) -> Expression | None:
        source, target = edge
        share = self._shares.of_edge(source, target) if self._flow.loop_of[source] == around else None
        if share is None:
            self._undecided[source] = None
        return share

    def _at(self, source: str, around: Loop | None) -> Expression:
        """How often a deciding block is reached; one in an inner loop as often as that loop is entered."""
        inner = self._flow.loop_of[source]
        while inner is not None and inner.parent != (around.header if around is not None else None):
            inner = self._flow.loop_at[inner.parent] if inner.parent is not None else None
        if inner is not None and inner != around:
            return self._entered.get(inner.header, ONE)
        if around is not None and source == around.header:
            return self._bodies[source]
        return self._found.get(source, ONE)

    @cached_property
    def _deciding(self) -> Mapping[str, list[_Edge]]:
        """The edges that decide directly whether a block is reached, as in `ControlFlow.control_dependence`."""
        found: defaultdict[str, list[_Edge]] = defaultdict(list)
        nearest = self._flow.immediate_post_dominator
        for block in self._flow.graph:
            successors = self._flow.successors(block)
            if len(successors) < 2 or block not in nearest:
                continue
            for successor in successors:
                reached: str | None = successor
                while reached is not None and reached != nearest[block] and reached in nearest:
                    found[reached].append((block, successor))
                    reached = nearest.get(reached)
        return found
