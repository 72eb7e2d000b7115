"""What coarsening did to a kernel: to each divergent region, why not more, and what the replicas share.

    CoarsenedKernel: plans, lowered kernel, coarsened kernel ─▶ KernelReport

A uniform instruction that the F replicas carry out together stands once, not F times: F - 1 of it are *shared*.
That holds for the uniform instructions outside of divergent regions, and for those in a region whose replicas are
interleaved for as long as they agree; in a region of copies nothing is shared. It is an estimate of the code as it
was before LLVM's passes looked at it, for replicas that agree. *Work* is instructions weighted by how often they
run, as far as the code says (`block_profile.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.cost.banks import MemoryDevice
from coarsen.cost.block_profile import block_weights
from coarsen.cost.lane_addresses import Place
from coarsen.cost.memory_report import MemoryReport, memory_report
from coarsen.errors import SourcePosition
from coarsen.ir.added_arguments import DescribedArgument, described_arguments
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.origin import Role
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class Part:
    """Some blocks of a kernel.

    Attributes:
        instructions: how many stand there, for one work-item.
        uniform: how many of them are the same for all replicas.
        shared: how many the replicas need not repeat, estimated.
        work: the instructions weighted by how often they run.
    """

    instructions: int
    uniform: int
    shared: int
    work: int


@dataclass(frozen=True, slots=True)
class RegionCost:
    """A divergent region: its `own` instructions without those of nested regions, which follow."""

    planned: PlannedRegion
    own: Part
    nested: tuple[RegionCost, ...] = ()

    def all(self) -> Iterator[RegionCost]:
        """Yield this region and those nested in it, outer before inner."""
        yield self
        for region in self.nested:
            yield from region.all()


@dataclass(frozen=True, slots=True)
class CoarseningReport:
    """One of the coarsenings.

    Attributes:
        coarsening: how many work-items, or work-groups, become one.
        kernel: before it, in which its regions stand.
        outside: what stands outside of divergent regions.
        regions: the outermost divergent regions.
    """

    coarsening: Coarsening
    kernel: Kernel
    outside: Part
    regions: tuple[RegionCost, ...]

    def all(self) -> Iterator[RegionCost]:
        """Yield every region, outer before inner."""
        for region in self.regions:
            yield from region.all()

    def parts(self) -> Iterator[Part]:
        """Yield what stands outside, then each region's own."""
        yield self.outside
        yield from (region.own for region in self.all())

    def position(self, region: RegionCost) -> SourcePosition | None:
        """Return the place of the branch that begins a region; None where it isn't known."""
        return place_of_branch(self.kernel, self.kernel.block[region.planned.region.head])

    def lines(self, region: RegionCost) -> tuple[int, int] | None:
        """Return the first and the last line, from 1, of a region's code in the kernel's own file.

        What was inlined counts as the line of its call. None where no line is known.
        """
        blocks = self.kernel.in_order(region.planned.region.blocks)
        places = (i.call_position or i.position for block in blocks for i in block.instructions)
        numbers = [place.line for place in places if place is not None and not place.file]
        return (min(numbers), max(numbers)) if numbers else None

    @property
    def shared(self) -> int:
        """Return how many instructions the replicas need not repeat, estimated."""
        return sum(part.shared for part in self.parts())

    @property
    def work(self) -> int:
        """The work of one work-item."""
        return sum(part.work for part in self.parts())

    @property
    def copied_work(self) -> int:
        """The work that stands in regions whose replicas run one after the other."""
        return sum(each.own.work for each in self.all() if each.planned.treatment is Treatment.COPIES)

    @property
    def interleaved_work(self) -> int:
        """The work that stands in regions whose replicas run together while they agree."""
        return self.work - self.outside.work - self.copied_work


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


@dataclass(frozen=True)
class KernelReport:
    """All that was done to a kernel: a report for each coarsening, in the order in which they were carried out.

    Attributes:
        coarsened: what the kernel has become.
        coarsenings: those with a factor above 1.
        memory: what the accesses of the kernel cost, coarsened so.
        roles: what the instructions of the coarsened kernel are for; each role that there is, in their order.
    """

    coarsened: CoarsenedKernel
    coarsenings: tuple[CoarseningReport, ...]
    memory: MemoryReport
    roles: tuple[RoleCount, ...]

    @property
    def added_arguments(self) -> tuple[DescribedArgument, ...]:
        """Return what a launch of the coarsened kernel passes besides."""
        kernel = self.coarsened.kernel
        return tuple(described_arguments(kernel.argument_names, kernel.added_arguments))

    @property
    def before(self) -> int:
        """Instructions of the kernel."""
        return self.coarsened.lowered.length

    @property
    def after(self) -> int:
        """Instructions of the coarsened kernel."""
        return self.coarsened.kernel.length

    @property
    def factor(self) -> int:
        """Return how many work-items become one."""
        return math.prod(report.coarsening.factor for report in self.coarsenings)

    @property
    def per_replica(self) -> float:
        """Instructions of the coarsened kernel for each of the work-items that it stands for."""
        return self.after / self.factor


def report_of(coarsened: CoarsenedKernel, device: MemoryDevice, local_size: Place | None) -> KernelReport:
    """Return the report of a coarsening that was carried out.

    Args:
        coarsened: what `coarsen.pipeline.run_pipeline` returned; how many instructions the clean-up removed is in
            the report if it was counted there.
        device: for which the costs of memory accesses are computed.
        local_size: of the original launch; None for what the kernel requires, if it does.

    Raises:
        InvalidInputError: a local size that the coarsenings do not divide.
    """
    lowered, variant = coarsened.lowered, coarsened.variant
    required = None if variant.any_size else lowered.required_work_group_size
    return KernelReport(
        coarsened,
        tuple(map(coarsening_report, variant.coarsenings, coarsened.plans)),
        memory_report(coarsened.prepared or lowered, variant.coarsenings, device, local_size or required),
        tuple(_roles(coarsened.kernel)),
    )


def _roles(kernel: Kernel) -> Iterator[RoleCount]:
    counts = Counter((i.origin.role, i.origin.replica) for i in kernel.instructions())
    for role in Role:
        by_replica = {k: counts[role, k] for known, k in counts if known is role and k is not None}
        if by_replica or counts[role, None]:
            yield RoleCount(role, counts[role, None], dict(sorted(by_replica.items())))


def coarsening_report(coarsening: Coarsening, plan: RegionPlan) -> CoarseningReport:
    """Return the report of one coarsening by its plan."""
    kernel, divergence = plan.kernel, plan.divergence
    weights = block_weights(IndexForms(kernel, divergence.control_flow))

    def part(blocks: Iterable[Block], *, shares: bool = True) -> Part:
        found = list(blocks)
        uniform = sum(not divergence.is_divergent(i) for block in found for i in block.instructions)
        shared = uniform * (coarsening.factor - 1) if shares else 0
        work = sum(weights[block.name] * len(block.instructions) for block in found)
        return Part(sum(len(block.instructions) for block in found), uniform, shared, work)

    def region(planned: PlannedRegion) -> RegionCost:
        own = (block for block in kernel.blocks if plan.region_of.get(block.name) is planned)
        shares = planned.treatment is not Treatment.COPIES
        return RegionCost(planned, part(own, shares=shares), tuple(map(region, planned.nested)))

    outside = part(block for block in kernel.blocks if block.name not in plan.region_of)
    return CoarseningReport(coarsening, kernel, outside, tuple(map(region, plan.regions)))


def place_of_branch(kernel: Kernel, block: Block) -> SourcePosition | None:
    """Return where the branch at the end of a block stands, or its condition; None where neither is known."""
    condition = [operand.text for operand in block.terminator.arguments if operand.is_local]
    known = (kernel.definition[name].position for name in condition if name in kernel.definition)
    return block.terminator.position or next(filter(None, known), None)
