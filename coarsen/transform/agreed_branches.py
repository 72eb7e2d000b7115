"""The divergent branches of a region at which the replicas may part for good, and the others.

At the first kind a test for agreement stands; whoever parts there goes on alone to the region's join. The second
kind has a region of its own inside, from which the replicas come out together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region, outermost_regions
from coarsen.ir.kernel import Instruction
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.transform.alone import Entry
from coarsen.transform.region_plan import Reason


class NotTogether(Exception):  # noqa: N818 (an answer, not an error)
    """The replicas can't or needn't go through a region together."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = Reason(code, sentence)


@dataclass(frozen=True)
class AgreedBranches:
    """The divergent branches of a region.

    Attributes:
        entry: where a replica that goes on alone comes in.
        branches: the blocks whose branches are tested for agreement.
        nested: the blocks of all others, each inside of a smaller region.
    """

    entry: Entry
    branches: frozenset[str]
    nested: frozenset[str]


def check_barriers(divergence: Divergence, region: Region, branches: Iterable[str]) -> None:
    """Raise NotTogether where work-items of a group might part at a branch and leave each other at a barrier.

    A branch on which a barrier depends is the same for the whole group; at any other some work-items may take the
    slow path while the rest take the fast one.
    """
    if has_barrier(divergence, region) and not divergence.group_uniform_branches.issuperset(branches):
        raise NotTogether(
            "barrier-inside", "not all work-items of a group would reach the barrier inside together"
        )


def has_barrier(divergence: Divergence, region: Region) -> bool:
    """Return True if a barrier stands in a region, or another call that the whole group must reach."""
    return any(is_barrier(i) for block in region.blocks for i in divergence.kernel.block[block].instructions)


def is_behind_barrier(divergence: Divergence, block: str) -> bool:
    """Return True if a block ends after a barrier, and one condition decides whether both are reached.

    There PoCL (3.1) lets all work-items of a group take the way of the first one, if that has a loop below two
    conditions, as a slow path with a loop is: `if (group < n) { …; barrier(…); if (!all) if (any) for (…) … }`.
    """
    flow, kernel = divergence.control_flow, divergence.kernel
    deciding = flow.controlling(block)
    for each in kernel.blocks:
        if any(map(is_barrier, each.instructions)) and flow.place[each.name] <= flow.place[block]:
            around = flow.loops_around(each.name)
            shared = deciding & flow.controlling(each.name)
            if any(not any(_leaves(flow, branch, loop) for loop in around) for branch in shared):
                return True
    return False


def _leaves(flow: ControlFlow, branch: str, loop: Loop) -> bool:
    return branch in loop.blocks and not loop.blocks.issuperset(flow.successors(branch))


def has_loop(divergence: Divergence, region: Region) -> bool:
    """Return True if a loop stands in a region."""
    return any(block in divergence.control_flow.loop_at for block in region.blocks)


def blocks_before(flow: ControlFlow, start: str, block: str, inside: frozenset[str]) -> frozenset[str]:
    """Return the blocks from which `block` is reached without passing `start` again, and both of them."""
    found = {block}
    pending = [block] if block != start else []
    while pending:
        for predecessor in flow.predecessors(pending.pop()):
            if predecessor not in found and predecessor in inside:
                found.add(predecessor)
                if predecessor != start:
                    pending.append(predecessor)
    return frozenset(found)


def is_repeatable_before(divergence: Divergence, blocks: Iterable[str]) -> bool:
    """Return True if blocks may be executed once more, by a replica that starts again from before them."""
    return not any(
        divergence.effects.has_effect(instruction)
        for block in blocks
        for instruction in divergence.kernel.block[block].instructions
    )


def inner_branches(divergence: Divergence, region: Region) -> dict[str, Region | None]:
    """Return a region's divergent branches, in reverse post-order, each with its own smaller region, if any."""
    flow = divergence.control_flow
    found: dict[str, Region | None] = {}
    for branch in flow.in_order(region.blocks & divergence.branches):
        (own,) = outermost_regions(flow, [branch])
        found[branch] = own if _is_inside(own, region) else None
    return found


def nested_regions(divergence: Divergence, region: Region, agreed: AgreedBranches) -> tuple[Region, ...]:
    """Return the regions of nested branches. Raises NotTogether where they can't be told apart from it."""
    inner = outermost_regions(divergence.control_flow, agreed.nested)
    for nested in inner:
        if not _is_inside(nested, region) or nested.blocks & agreed.branches or nested.head in agreed.branches:
            raise NotTogether("unstructured", "divergent branches inside can't be told apart from this one")
    return inner


def _is_inside(inner: Region, region: Region) -> bool:
    return inner.head in region.blocks and inner.blocks < region.blocks


def check_results(divergence: Divergence, region: Region) -> None:
    """Raise NotTogether where a value leaves the region otherwise than through a phi of its join."""
    kernel = divergence.kernel
    defined = {i.name for block in region.blocks for i in kernel.block[block].instructions if i.name}
    for name in defined:
        for use in divergence.uses.get(name, ()):
            if use.block in region.blocks:
                continue
            if (
                use.block == region.join
                and use.instruction.opcode == "phi"
                and _is_way_out(use.instruction, name, region)
            ):
                continue
            raise NotTogether(
                "unstructured", "a value leaves the region by a way that slow and fast path don't share"
            )


def _is_way_out(phi: Instruction, name: str, region: Region) -> bool:
    sources = [source for value, source in zip(phi.operands, phi.incoming, strict=True) if value.text == name]
    return all(source in region.blocks or source == region.head for source in sources)
