"""Chooses what is done to each divergent region: copies, a fast path, or lock-step.

A region of a loop may go in lock-step (`plan_loop.py`), any other may have a fast path (`plan_guard.py`); where
neither is legal, allowed or likely to pay, it is copied. Inside of a region whose replicas go together, the
regions nested in it are chosen for in the same way.
"""

from __future__ import annotations

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.transform.agreed_branches import NotTogether, nested_regions
from coarsen.transform.alone import Entry
from coarsen.transform.plan_guard import guard_branches
from coarsen.transform.plan_loop import loop_branches, loop_of_region
from coarsen.transform.region_plan import PlannedRegion, Reason, RegionPlan, Treatment
from coarsen.variant.transforms import Transforms, Use


def plan_regions(divergence: Divergence, regions: tuple[Region, ...], transforms: Transforms) -> RegionPlan:
    """Decide what is done to each divergent region.

    Args:
        divergence: of the kernel along the coarsened dimension.
        regions: its outermost divergent regions.
        transforms: what may be used.
    """
    planned = tuple(_planned(divergence, region, transforms) for region in regions)
    return RegionPlan(divergence, planned, transforms)


def _planned(divergence: Divergence, region: Region, transforms: Transforms) -> PlannedRegion:
    try:
        if loop_of_region(divergence.control_flow, region) is not None:
            treatment, agreed = Treatment.LOCK_STEP, loop_branches(divergence, region, transforms)
        else:
            treatment, agreed = Treatment.FAST_PATH, guard_branches(divergence, region, transforms)
        inner = nested_regions(divergence, region, agreed)
    except NotTogether as error:
        return PlannedRegion(region, Treatment.COPIES, Entry(region.head), error.reason)
    nested = tuple(_planned(divergence, smaller, transforms) for smaller in inner)
    planned = PlannedRegion(region, treatment, agreed.entry, branches=agreed.branches, nested=nested)
    if (
        treatment is Treatment.FAST_PATH
        and transforms.fast_path is Use.AUTO
        and _is_mostly_copied(divergence, planned)
    ):
        reason = Reason("mostly-copied", "most of the region would be copied in the fast path as well")
        return PlannedRegion(region, Treatment.COPIES, Entry(region.head), reason)
    return planned


def _is_mostly_copied(divergence: Divergence, planned: PlannedRegion) -> bool:
    """Return True if the larger part of a region stands in copies although the replicas go through it together."""
    inside = [inner.region for inner in planned.all() if inner.treatment is Treatment.COPIES]
    copied = frozenset().union(*(region.blocks for region in inside))
    return 2 * _length(divergence, copied) > _length(divergence, planned.region.blocks)


def _length(divergence: Divergence, blocks: frozenset[str]) -> int:
    return sum(len(divergence.kernel.block[block].instructions) for block in blocks)
