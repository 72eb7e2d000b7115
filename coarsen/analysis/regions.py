"""Divergent regions: what must be replicated whole because the replicas may take different ways through it.

A region has one `head`, whose last instruction enters it, and one `join`, which every way out of it leads to;
every edge into the region's blocks comes from the head. A region starts as the blocks between a divergent branch
and its immediate post-dominator; where an edge enters it from the side, or the branch stands in a loop that the
replicas leave in different iterations, it grows until the above holds. Only outermost regions are returned.

Refuses when: a region has no join (a divergent way into an endless loop), or growing took in a barrier. Merged
work-groups may have barriers in their regions: what a group's barriers depend on is the same for all its
work-items, so that they reach those of each replica's copy together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.analysis.control_flow import EXIT, ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.errors import RefusalError
from coarsen.ir.opencl.builtins import is_barrier


@dataclass(frozen=True, slots=True)
class Region:
    """The blocks between `head` and `join`, neither included."""

    head: str
    join: str
    blocks: frozenset[str]


def divergent_regions(divergence: Divergence) -> tuple[Region, ...]:
    """Return the outermost divergent regions of a kernel, disjoint, in reverse post-order of their heads.

    What blocks that a region took in store to becomes divergent.

    Raises:
        RefusalError: `endless-loop` or `barrier-in-divergent-region`.
    """
    regions = outermost_regions(divergence.control_flow, divergence.branches)
    while divergence.replicate_whole(block for region in regions for block in region.blocks):
        regions = outermost_regions(divergence.control_flow, divergence.branches)
    if not divergence.merges_groups:
        for region in regions:
            _refuse_barriers(divergence, region)
    return regions


def outermost_regions(flow: ControlFlow, branches: Iterable[str]) -> tuple[Region, ...]:
    """Return the outermost regions of some branching blocks, disjoint, in reverse post-order of their heads.

    Raises:
        RefusalError: `endless-loop`.
    """
    regions: list[Region] = []
    inside: set[str] = set()
    heads: set[str] = set()
    for branch in flow.in_order(branches):
        if branch in inside:
            continue
        new = region_of(flow, branch)
        if new.head in inside or not inside.isdisjoint(new.blocks) or not heads.isdisjoint(new.blocks):
            regions = _merged(flow, regions, new)
            inside = set().union(*(region.blocks for region in regions))
            heads = {region.head for region in regions}
        else:
            regions.append(new)
            inside.update(new.blocks)
            heads.add(new.head)
    return tuple(sorted(regions, key=lambda region: flow.place[region.head]))


def region_of(flow: ControlFlow, branch: str) -> Region:
    """Return the smallest region that the branch of a block needs. Raises RefusalError: `endless-loop`."""
    return _grow(flow, branch, _join(flow, branch))


def _merged(flow: ControlFlow, regions: list[Region], new: Region) -> list[Region]:
    """Add a region; those that overlap with it become one with it."""
    apart = []
    for region in regions:
        if region.blocks & new.blocks or region.head in new.blocks or new.head in region.blocks:
            new = _covering(flow, region, new)
        else:
            apart.append(region)
    if len(apart) < len(regions) and any(region.blocks & new.blocks for region in apart):
        return _merged(flow, apart, new)
    return [*apart, new]


def _covering(flow: ControlFlow, first: Region, second: Region) -> Region:
    """The smallest region around two that overlap."""
    head = flow.common_dominator([first.head, second.head])
    covering = _grow(flow, head, _join(flow, head))
    while not (first.blocks | second.blocks) <= covering.blocks:
        covering = _grow(flow, covering.head, _join(flow, covering.join))
    return covering


def _grow(flow: ControlFlow, head: str, join: str) -> Region:
    """Move the head up and the join down until every edge into the blocks between comes from the head."""
    while True:
        blocks = flow.between(head, join)
        if head in blocks:
            head = flow.immediate_dominator[_loop_to_take_in(flow, head, join).header]
            join = _later_join(flow, head, join)
            continue
        outside = {
            predecessor
            for block in blocks
            for predecessor in flow.predecessors(block)
            if predecessor != head and predecessor not in blocks
        }
        if not outside:
            return Region(head, join, blocks)
        higher = flow.common_dominator([head, *outside])
        if higher == head:
            join = _join(flow, join)
        else:
            head = higher
            join = _later_join(flow, head, join)


def _loop_to_take_in(flow: ControlFlow, head: str, join: str) -> Loop:
    """The loop by which a way from a head leads back to it: the outermost that ends before the join.

    Where the join stands in all of them (`again: …; if (x) goto again; …; if (y) goto again;`) it is the
    innermost, of which only some iterations get as far as the join.
    """
    around = flow.loops_around(head)
    ending = [loop for loop in around if join not in loop.blocks]
    return ending[-1] if ending else around[0]


def _later_join(flow: ControlFlow, head: str, join: str) -> str:
    """The post-dominator of a raised head, not before the join that was there."""
    raised = _join(flow, head)
    return raised if join in flow.between(head, raised) or raised == join else join


def _join(flow: ControlFlow, block: str) -> str:
    join = flow.immediate_post_dominator.get(block, EXIT)
    if join == EXIT:
        position = flow.kernel.block[block].terminator.position
        raise RefusalError("endless-loop", "work-items may part here and never meet again", position)
    return join


def _refuse_barriers(divergence: Divergence, region: Region) -> None:
    kernel = divergence.kernel
    for name in region.blocks:
        for instruction in kernel.block[name].instructions:
            if is_barrier(instruction):
                raise RefusalError(
                    "barrier-in-divergent-region",
                    "control flow around this barrier can't be separated from a divergent branch",
                    instruction.position,
                )
