"""When a divergent region gets a fast path: the region of an `if` whose sides the replicas mostly take together.

A branch nested in such a region parts the replicas in the region's own slow path, not in a second one, where both
lead to the same join and nothing that shows has been done in between: `if (x < width) if (y < height) …`.

Not together when: the region does not start with its divergent branch; a value leaves it otherwise than through a
phi; a nested branch can't be told apart from it; nothing says that the replicas agree; the region is so short that
the test would cost more than it saves (measured with `reduce` and `dwtHaar1D`, whose guards hold 6 to 15
instructions: a third slower with fast paths on two CPU runtimes).
"""

from __future__ import annotations

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.one_position import side_of_one
from coarsen.analysis.regions import Region
from coarsen.transform.agreed_branches import (
    AgreedBranches,
    NotTogether,
    blocks_before,
    check_barriers,
    check_results,
    has_barrier,
    has_loop,
    inner_branches,
    is_behind_barrier,
    is_repeatable_before,
)
from coarsen.transform.alone import Entry
from coarsen.transform.likely_agreement import is_agreement_likely
from coarsen.variant.transforms import DeviceKind, Transforms, Use

_SHORT = 20


def guard_branches(divergence: Divergence, region: Region, transforms: Transforms) -> AgreedBranches:
    """Return the branches of a region that gets a fast path. Raises NotTogether."""
    use = transforms.fast_path
    if use is Use.NEVER:
        raise NotTogether("turned-off", "the fast path is turned off")
    head = region.head
    if head not in divergence.branches:
        raise NotTogether("unstructured", "the region starts before its divergent branch")
    check_results(divergence, region)
    check_barriers(divergence, region, [head])
    if (
        transforms.device_kind is not DeviceKind.GPU
        and (has_loop(divergence, region) or transforms.wide_accesses)
        and is_behind_barrier(divergence, head)
    ):
        raise NotTogether("behind-barrier", "PoCL would send all work-items of a group the way of the first one")
    if use is Use.AUTO and not is_agreement_likely(divergence, head):
        raise NotTogether("agreement-unknown", "the condition depends on data: nothing says that work-items agree")
    if use is Use.AUTO and _is_for_one(divergence, region):
        raise NotTogether("for-one-alone", "at most one of the merged work-items goes into the region")
    if use is Use.AUTO and _is_short(divergence, region):
        raise NotTogether("too-short", "the region is too short for a test of agreement to pay")
    shared: set[str] = {head}
    nested: dict[str, Region] = {}
    for branch, own in inner_branches(divergence, region).items():
        if own is None:
            raise NotTogether("unstructured", "a branch inside leads out of the region by a way of its own")
        if any(branch in outer.blocks for outer in nested.values()):
            continue
        if _shares_slow_path(divergence, region, branch, own, use):
            shared.add(branch)
        else:
            nested[branch] = own
    return AgreedBranches(Entry(head), frozenset(shared), frozenset(nested))


def _shares_slow_path(divergence: Divergence, region: Region, branch: str, own: Region, use: Use) -> bool:
    """Return True if a replica that parts at a nested branch may start again from the region's head."""
    flow = divergence.control_flow
    if own.join != region.join or own.head != branch or has_barrier(divergence, region):
        return False
    loop = flow.loop_of[branch]
    if loop is not None and loop.header in region.blocks:
        return False
    if use is Use.AUTO and not is_agreement_likely(divergence, branch):
        return False
    before = blocks_before(flow, region.head, branch, region.blocks | {region.head}) - {region.head}
    return is_repeatable_before(divergence, before)


def _is_for_one(divergence: Divergence, region: Region) -> bool:
    """Return True if the region is what one work-item does alone: `if (item == 0) …`."""
    side = side_of_one(divergence, region.head)
    targets = divergence.kernel.block[region.head].terminator.targets
    return side is not None and all(target in (side, region.join) for target in targets)


def _is_short(divergence: Divergence, region: Region) -> bool:
    """Return True if a region has few instructions and no loop."""
    if has_loop(divergence, region):
        return False
    return sum(len(divergence.kernel.block[block].instructions) for block in region.blocks) < _SHORT
