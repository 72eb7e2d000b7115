"""The guard around a kernel's body for launches that a factor does not divide, as it is planned for.

The guard's condition compares positions, so that the body is a divergent region whose replicas agree but at the
end of the NDRange. It has a fast path by the rules of any other region (`transform/plan_guard.py`). A guard of
the kernel's own that leads to its end, too, shares that fast path.
"""

from __future__ import annotations

from dataclasses import replace

from coarsen.analysis.regions import Region
from coarsen.analysis.whole_groups import check_any_groups
from coarsen.cost.planned_work.axes import PlannedAxis, copied_blocks
from coarsen.ir.kernel import Kernel
from coarsen.transform.agreed_branches import blocks_before, has_barrier, is_repeatable_before
from coarsen.transform.guard import guards_of
from coarsen.transform.likely_agreement import is_agreement_likely
from coarsen.transform.region_plan import PlannedRegion, Treatment
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.transforms import Use

_SHORT = 20


def check_guards(kernel: Kernel, chosen: Configuration) -> None:
    """Raise RefusalError where it matters to a kernel how its work-items are grouped."""
    for dimension, level in guards_of(chosen):
        if level is Level.ITEM:
            check_any_groups(kernel, dimension)


def is_body_copied(planned: PlannedAxis) -> bool:
    """Return True if the guarded body stands once for each replica, without a fast path.

    Args:
        planned: what is done inside of it (`within_guard`).
    """
    use = planned.plan.transforms.fast_path
    if use is not Use.AUTO:
        return use is Use.NEVER
    length = {block.name: len(block.instructions) for block in planned.analysed.kernel.blocks}
    is_short = sum(length.values()) < _SHORT and not planned.analysed.divergence.control_flow.loops
    return is_short or 2 * sum(length[block] for block in planned.copied) > sum(length.values())


def within_guard(planned: PlannedAxis) -> PlannedAxis:
    """Return what is done along an axis inside of a guard."""
    if planned.plan.transforms.fast_path is Use.NEVER:
        return planned
    regions = tuple(
        replace(region, treatment=Treatment.FAST_PATH, branches=frozenset({region.region.head}), reason=None)
        if _shares_fast_path(planned, region)
        else region
        for region in planned.plan.regions
    )
    plan = replace(planned.plan, regions=regions)
    return replace(planned, plan=plan, copied=copied_blocks(plan))


def _shares_fast_path(planned: PlannedAxis, treated: PlannedRegion) -> bool:
    """Return True for copies of a region that starts with a branch to the kernel's end."""
    divergence, region = planned.analysed.divergence, treated.region
    if treated.treatment is not Treatment.COPIES or region.head not in divergence.branches:
        return False
    if not _ends_kernel(divergence.kernel, region) or has_barrier(divergence, region):
        return False
    flow = divergence.control_flow
    if flow.loop_of[region.head] is not None or not is_agreement_likely(divergence, region.head):
        return False
    everything = frozenset(flow.reverse_postorder)
    return is_repeatable_before(divergence, blocks_before(flow, flow.entry, region.head, everything))


def _ends_kernel(kernel: Kernel, region: Region) -> bool:
    return len(kernel.block[region.join].instructions) == 1 and not kernel.block[region.join].terminator.targets
