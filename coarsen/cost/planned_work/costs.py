"""The costs that a plan adds to a kernel besides the merged work."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.cost.planned_work.counting import Counting
from coarsen.cost.planned_work.launches import OriginalLaunch
from coarsen.cost.work_counts import WorkCounts
from coarsen.transform.region_plan import PlannedRegion, Treatment


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """Costs and savings of the transforms of a configuration.

    Attributes:
        code_size: instructions that stand in the coarsened kernel, each once however often it runs.
        code_growth: code size over that of the original kernel.
        copied_share: the share of executed instructions that stand in copies one after the other.
        copied_regions: divergent regions that are copied.
        fast_paths: regions with a fast path.
        lock_step_loops: loops in lock-step.
        tests: executed instructions that test whether the replicas agree, or keep surplus work-items out.
        parting: the share of executed instructions that a second body holds: what is executed again if the
            replicas part; known to be rare where the branches compare positions.
        second_bodies: instructions that stand in slow paths.
        uncertain: regions with a fast path or in lock-step of which nothing says that the replicas agree.
        merged_loads: executed loads that are saved since several replicas load the same.
        wide_accesses: executed accesses that are saved by vector accesses.
        barriers: that a work-item waits at.
        live_words: 32-bit registers that a work-item needs.
        local_bytes: local memory of a group, arguments apart.
        own_local_arguments: arguments in local memory of which each merged group has its own.
    """

    code_size: float
    code_growth: float
    copied_share: float
    copied_regions: int
    fast_paths: int
    lock_step_loops: int
    tests: float
    parting: float
    second_bodies: float
    uncertain: int
    merged_loads: float
    wide_accesses: float
    barriers: float
    live_words: int
    local_bytes: int
    own_local_arguments: int


def plan_costs(
    counting: Counting | None, work: WorkCounts, original: OriginalLaunch, own_local_arguments: int
) -> PlanCosts:
    """Return the costs of a plan.

    Args:
        counting: the configuration at its launch; None for the original kernel.
        work: of the configuration.
        original: the launch before coarsening.
        own_local_arguments: arguments in local memory of which each merged group has its own.
    """
    if counting is None:
        nothing = (0.0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
        return PlanCosts(original.length, 1.0, *nothing, work.barriers, work.live_words, work.local_bytes, 0)
    layout, merging = counting.tally.layout, counting.merging
    treated = [region for each in layout.planned for region in each.plan.all()]
    second = float(sum(each.blocks.second_bodies for each in layout.planned))
    written = counting.tally.length(merging, counting.copies) + second
    total = max(1.0, sum(work.instructions.values()))
    return PlanCosts(
        code_size=written,
        code_growth=written / original.length,
        copied_share=min(1.0, counting.tally.copied(merging) / total),
        copied_regions=_treated(treated, Treatment.COPIES),
        fast_paths=_treated(treated, Treatment.FAST_PATH),
        lock_step_loops=_treated(treated, Treatment.LOCK_STEP),
        tests=counting.tests,
        parting=min(1.0, counting.tally.parting() / total),
        second_bodies=second,
        uncertain=layout.uncertain,
        merged_loads=counting.merged_loads,
        wide_accesses=counting.unmerged - sum(access.count for access in work.accesses),
        barriers=work.barriers,
        live_words=work.live_words,
        local_bytes=work.local_bytes,
        own_local_arguments=own_local_arguments,
    )


def _treated(regions: list[PlannedRegion], treatment: Treatment) -> int:
    return sum(region.treatment is treatment for region in regions)
