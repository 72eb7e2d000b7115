"""How often each block runs for a work-item, on the mean over the NDRange, as an expression over sizes.

    a loop's blocks      the loop's runs (`loop_counts.py`); a header that tests first, once more
    a guarded block      the share of work-items that takes the branch (`branch_shares.py`)

Where data decide, a loop is taken to go round 8 times, and both ways of a branch to be taken by all; so it is
where a size has no value when the expression is evaluated. For predictions only.
"""

from __future__ import annotations

from coarsen.analysis.branch_shares import BranchShares
from coarsen.analysis.conditions import Condition, of_share
from coarsen.analysis.control_flow import Loop
from coarsen.analysis.expressions import ONE, ZERO, Expression, number, otherwise, product, total
from coarsen.analysis.loop_counts import LoopCounts

ASSUMED_TRIPS = 8
"""How often a loop goes round of which nothing says how often."""

_ALWAYS = of_share(ONE)
# A branching block and the successor that it goes to.
_Edge = tuple[str, str]


class Executions:
    """How often the blocks of a kernel run.

    Attributes:
        agreed: the blocks with tests of what data decide for several replicas, which are taken to agree.
        undecided: the blocks whose branches data decide, so far as they guard other blocks.

    Args:
        counts: of its loops.
    """

    def __init__(self, counts: LoopCounts) -> None:
        self._counts = counts
        self._shares = BranchShares(counts)
        self._flow = counts.forms.control_flow
        self._rounds: dict[str, Expression] = {}
        self._reached: dict[str, Condition] = {}
        self._found: dict[str, Expression] = {}
        self.agreed, self.undecided = self._shares.agreed, dict[str, None]()
        for block in self._flow.reverse_postorder:
            self._found[block] = self._executions(block)

    def of(self, block: str) -> Expression:
        """Return how often a block runs; one that can't be reached never does."""
        return self._found.get(block, ZERO)

    def _executions(self, block: str) -> Expression:
        loop = self._flow.loop_of[block]
        is_header = loop is not None and loop.header == block
        outer = self._parent(loop) if is_header else loop
        self._reached[block] = self._condition(block, outer, loop if is_header else None)
        share = otherwise(self._reached[block].true, ONE)
        around = ONE if outer is None else self._rounds[outer.header]
        if not is_header:
            return product([around, share])
        found = self._counts.of(block)
        assumed = number(ASSUMED_TRIPS)
        rounds = assumed if found.count is None else otherwise(found.count, assumed)
        self._rounds[block] = product([around, rounds])
        return product([around, total([rounds, ONE]) if found.tested_first else rounds, share])

    def _parent(self, loop: Loop | None) -> Loop | None:
        return self._flow.loop_at[loop.parent] if loop is not None and loop.parent is not None else None

    def _condition(self, block: str, around: Loop | None, entering: Loop | None) -> Condition:
        """The condition under which a block is reached in a round of the loop around it."""
        always = _ALWAYS if around is None else self._reached[around.header]
        edges = [edge for edge in self._flow.deciding_edges[block] if self._counts_for(edge[0], around, entering)]
        if not edges:
            return always
        taken = [self._taken(edge, around) for edge in edges]
        if len(edges) == 1:
            return taken[0] or self._at(edges[0][0], around)
        known = [condition.true for condition in taken if condition is not None]
        if len(known) == len(edges):
            return of_share(total(known))
        first = self._flow.common_dominator(source for source, _ in edges)
        return self._at(first, around) if around is None or first in around.blocks else always

    def _counts_for(self, source: str, around: Loop | None, entering: Loop | None) -> bool:
        """Return True if a branch guards something in a loop's body: one that leaves it is in the loop's count."""
        if source not in self._flow.place or (entering is not None and source in entering.blocks):
            return False
        if around is None:
            return True
        return source in around.blocks and all(t in around.blocks for t in self._flow.successors(source))

    def _taken(self, edge: _Edge, around: Loop | None) -> Condition | None:
        """The condition under which an edge is taken, None where data decide."""
        source, target = edge
        condition = self._shares.of_edge(source, target) if self._flow.loop_of[source] == around else None
        if condition is None:
            self.undecided[source] = None
            return None
        return self._at(source, around).and_also(condition)

    def _at(self, source: str, around: Loop | None) -> Condition:
        """The condition under which a deciding block is reached; for one in an inner loop, that loop."""
        inner = self._flow.loop_of[source]
        while inner is not None and inner != around and self._parent(inner) != around:
            inner = self._parent(inner)
        place = inner.header if inner is not None and inner != around else source
        return self._reached.get(place, _ALWAYS)
