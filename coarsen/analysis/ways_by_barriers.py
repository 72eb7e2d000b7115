"""The number of ways through a kernel that differ in the barriers on them.

    if (a) { barrier(…); }            one way with the first barrier or without it,
    if (b) { barrier(…); }            and with the second one or without it: 4 ways
    for (…) { barrier(…); }           a loop is entered or not: 8 ways

A compiler that gives each way code of its own (PoCL's does) takes as long as there are ways.
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.analysis.control_flow import EXIT, ControlFlow
from coarsen.analysis.graph import Graph
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier


def ways_by_barriers(kernel: Kernel) -> int:
    """Return the number of ways from the kernel's start to its end, told apart by branches around barriers.

    A loop's iterations after the first are no further ways. A kernel without barriers has one.
    """
    with_barriers = [block.name for block in kernel.blocks if any(map(is_barrier, block.instructions))]
    if not with_barriers:
        return 1
    flow = ControlFlow(kernel)
    graph = Graph((), _steps(flow, flow.controlling(*with_barriers)))
    ways = {EXIT: 1}
    for block in graph.postorder(flow.entry):
        if block not in ways:
            ways[block] = sum(ways[following] for following in graph.successors(block))
    return ways[flow.entry]


def _steps(flow: ControlFlow, conditions: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return where a way may go on from each block; loops are left after one iteration."""
    for block in flow.reverse_postorder:
        targets = flow.successors(block) if block in conditions else [_join(flow, block)]
        for target in targets:
            yield block, _ahead(flow, block, target)


def _ahead(flow: ControlFlow, block: str, target: str) -> str:
    """Return where a step leads: out of the loop, where it goes back to the loop's start."""
    loop = flow.loop_at.get(target)
    if loop is None or block not in loop.blocks:
        return target
    while target in loop.blocks:
        target = _join(flow, target)
    return _ahead(flow, block, target)


def _join(flow: ControlFlow, block: str) -> str:
    """Return the next block that every way from `block` comes through."""
    return flow.immediate_post_dominator.get(block, EXIT)
