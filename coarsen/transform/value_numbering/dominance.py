"""Where a value may be used in place of a later one: where it is computed on every way, in the same loops."""

from __future__ import annotations

from coarsen.analysis.control_flow import FlowGraph


class Dominance:
    """Answers quickly what `FlowGraph.dominates` does, by numbering the dominator tree.

    Attributes:
        order: the reachable blocks, so that each stands after those that dominate it.
    """

    def __init__(self, flow: FlowGraph) -> None:
        self._flow = flow
        self.order = flow.reverse_postorder
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._number()

    def _number(self) -> None:
        children: dict[str, list[str]] = {block: [] for block in self.order}
        for block in self.order[1:]:
            children[self._flow.immediate_dominator[block]].append(block)
        pending = [self.order[0]]
        preorder: list[str] = []
        while pending:
            block = pending.pop()
            self._first[block] = len(preorder)
            preorder.append(block)
            pending.extend(children[block])
        for block in reversed(preorder):
            self._last[block] = max([self._first[block], *(self._last[child] for child in children[block])])

    def dominates(self, first: str, second: str) -> bool:
        """Return whether every way from the entry to `second` passes `first` (a block dominates itself)."""
        return self._first[first] <= self._first[second] <= self._last[first]

    def may_use(self, block: str, defining: str) -> bool:
        """Return whether what `defining` computes is there in `block`, and not taken out of a loop."""
        if block == defining:
            return True
        loop = self._flow.loop_of[defining]
        return self.dominates(defining, block) and (loop is None or block in loop.blocks)
