"""Instructions that every work-item comes to, once for each round of the loops around them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from coarsen.analysis.control_flow import EXIT, FlowGraph
from coarsen.analysis.loop_counters import Counter


def is_always_executed(flow: FlowGraph, block: str, counters: Mapping[str, Counter]) -> bool:
    """Return True if all work-items pass a block, and in loops with counters in each of their rounds.

    Args:
        flow: of the kernel.
        block: its name.
        counters: of the kernel's loops.
    """
    counted = {counter.loop.header for counter in counters.values()}
    place = block
    for loop in flow.loops_around(block):
        latches = [start for start, end in flow.back_edges if end == loop.header]
        # The header is passed once more, when the loop is left.
        if loop.header not in counted or place == loop.header:
            return False
        if not all(flow.dominates(place, latch) for latch in latches):
            return False
        place = loop.header
    return place in _passed_by_all(flow)


def _passed_by_all(flow: FlowGraph) -> Collection[str]:
    """The blocks that are on every path through the kernel."""
    passed, block = [flow.entry], flow.entry
    while block != EXIT:
        following = flow.immediate_post_dominator.get(block)
        if following is None:
            break
        passed.append(following)
        block = following
    return passed
