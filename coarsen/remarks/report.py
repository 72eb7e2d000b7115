"""What coarsening did to a kernel: to each divergent region, why not more, and what the replicas share.

    CoarsenedKernel: plans, lowered kernel, coarsened kernel ─▶ KernelReport

What is counted comes from `cost/plan_cost.py`, which says what *shared* and *work* mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.cost.banks import ANY_DEVICE, MemoryDevice
from coarsen.cost.lane_addresses import Place
from coarsen.cost.memory_report import MemoryReport, memory_report
from coarsen.cost.plan_cost import PlanCost, RegionCost, plan_cost
from coarsen.errors import SourcePosition
from coarsen.ir.added_arguments import DescribedArgument, described_arguments
from coarsen.ir.graph.origin import Role
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel
from coarsen.remarks.source_places import Lines, lines_of, place_of_branch
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.layouts.lay_out import LaidArray
from coarsen.transform.regions.plan import Treatment
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class CoarseningReport:
    """One of the coarsenings: what it costs, and the kernel before it, in which its regions stand."""

    coarsening: Coarsening
    cost: PlanCost
    kernel: Kernel

    def regions(self) -> Iterator[RegionCost]:
        """Yield every region, outer before inner."""
        for region in self.cost.regions:
            yield from region.all()

    def position(self, region: RegionCost) -> SourcePosition | None:
        """Return the place of the branch that begins a region; None where it isn't known."""
        return place_of_branch(self.kernel, self.kernel.block[region.planned.region.head])

    def lines(self, region: RegionCost) -> Lines | None:
        """Return the lines of a region's code; None where they aren't known."""
        return lines_of(self.kernel.in_order(region.planned.region.blocks))

    @property
    def interleaved_work(self) -> int:
        """The work that stands in regions whose replicas run together while they agree."""
        return self.cost.work_of(Treatment.FAST_PATH, Treatment.LOCK_STEP)

    @property
    def copied_work(self) -> int:
        """The work that stands in regions whose replicas run one after the other."""
        return self.cost.work_of(Treatment.COPIES)


@dataclass(frozen=True, slots=True)
class RoleCount:
    """How many instructions of the coarsened kernel are there for one purpose, by their origins.

    Attributes:
        role: what they are for.
        shared: those that stand once, whatever the factor.
        by_replica: those that are one replica's, by the replica's number; of several coarsenings the last one's.
    """

    role: Role
    shared: int
    by_replica: Mapping[int, int]

    @property
    def instructions(self) -> int:
        """All of them."""
        return self.shared + sum(self.by_replica.values())


@dataclass(frozen=True, slots=True)
class KernelReport:
    """All that was done to a kernel: a report for each coarsening, in the order in which they were carried out.

    Attributes:
        kernel: its name.
        coarsenings: those with a factor above 1.
        added_arguments: what a launch of the coarsened kernel passes besides.
        before: instructions of the kernel.
        after: instructions of the coarsened kernel.
        assumptions: what was assumed, with the place in the source.
        cleaned: instructions that the clean-up removed; None where it was turned off.
        wide: the accesses that were merged; None where that was not asked for.
        memory: what the accesses of the kernel cost, coarsened so; None where it was not asked for.
        arrays: its arguments that have another layout than in the source.
        roles: what the instructions of the coarsened kernel are for; each role that there is, in their order.
        distinct: what was gained by arguments that point to distinct memory; None where that was not asked for.
    """

    kernel: str
    coarsenings: tuple[CoarseningReport, ...]
    added_arguments: tuple[DescribedArgument, ...]
    before: int
    after: int
    assumptions: tuple[str, ...]
    cleaned: int | None = None
    wide: WideAccesses | None = None
    memory: MemoryReport | None = None
    arrays: tuple[LaidArray, ...] = ()
    roles: tuple[RoleCount, ...] = ()
    distinct: DistinctMemory | None = None

    @property
    def factor(self) -> int:
        """Return how many work-items become one."""
        return math.prod(report.coarsening.factor for report in self.coarsenings)

    @property
    def per_replica(self) -> float:
        """Instructions of the coarsened kernel for each of the work-items that it stands for."""
        return self.after / self.factor


def report_of(
    coarsened: CoarsenedKernel, device: MemoryDevice = ANY_DEVICE, local_size: Place | None = None
) -> KernelReport:
    """Return the report of a coarsening that was carried out.

    Args:
        coarsened: what `coarsen.pipeline.run_pipeline` returned; how many instructions the clean-up removed is in
            the report if it was counted there.
        device: for which the costs of memory accesses are computed.
        local_size: of the original launch; what the kernel requires, if it does, where it is left out.

    Raises:
        InvalidInputError: a local size that the coarsenings do not divide.
    """
    lowered, variant = coarsened.lowered, coarsened.variant
    required = None if variant.any_size else lowered.required_work_group_size
    carried_out = zip(coarsened.variant.coarsenings, coarsened.plans, strict=True)
    return KernelReport(
        coarsened.lowered.name,
        tuple(
            CoarseningReport(each, plan_cost(plan, each.factor), plan.divergence.kernel)
            for each, plan in carried_out
        ),
        tuple(described_arguments(coarsened.kernel.argument_names, coarsened.kernel.added_arguments)),
        coarsened.lowered.length,
        coarsened.kernel.length,
        coarsened.assumptions,
        coarsened.cleaned,
        coarsened.wide_accesses,
        memory_report(coarsened.kept or lowered, variant.coarsenings, device, local_size or required),
        coarsened.arrays,
        tuple(_roles(coarsened.kernel)),
        coarsened.distinct,
    )


def _roles(kernel: Kernel) -> Iterator[RoleCount]:
    counts = Counter((i.origin.role, i.origin.replica) for i in kernel.instructions())
    for role in Role:
        by_replica = {k: counts[role, k] for known, k in counts if known is role and k is not None}
        if by_replica or counts[role, None]:
            yield RoleCount(role, counts[role, None], dict(sorted(by_replica.items())))
