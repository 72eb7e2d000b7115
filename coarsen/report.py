"""What coarsening did to a kernel: to each divergent region, why not more, and what the replicas share.

    plans, lowered kernel, coarsened kernel ─▶ KernelReport

A uniform instruction that the F replicas carry out together stands once, not F times: F - 1 of it are *shared*.
That holds for the uniform instructions outside of divergent regions, and for those in a region whose replicas are
interleaved for as long as they agree; in a region of copies nothing is shared. It is an estimate of the code as it
was before LLVM's passes looked at it, for replicas that agree.

*Work* is instructions weighted by how often they run: once for every round of the loops around them, as far as the
code says (`features/work.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.index_forms import IndexForms
from coarsen.errors import SourcePosition
from coarsen.features.work import block_weights
from coarsen.ir.added_arguments import DescribedArgument, described_arguments
from coarsen.ir.kernel import Kernel
from coarsen.source_places import Lines, SourcePlaces
from coarsen.transform.region_plan import PlannedRegion, Reason, RegionPlan, Treatment
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.variant.coarsening import Coarsening, Configuration


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
class RegionReport:
    """A divergent region.

    Attributes:
        block: the block whose branch begins it.
        position: of that branch; None where it isn't known.
        lines: of the region's code; None where they aren't known.
        treatment: what is done to it.
        reason: why not more; None where the replicas are interleaved.
        own: its instructions without those of nested regions.
        nested: the regions inside that are treated by themselves.
    """

    block: str
    position: SourcePosition | None
    lines: Lines | None
    treatment: Treatment
    reason: Reason | None
    own: Part
    nested: tuple[RegionReport, ...] = ()

    def all(self) -> Iterator[RegionReport]:
        """This region and those nested in it, outer before inner."""
        yield self
        for region in self.nested:
            yield from region.all()


@dataclass(frozen=True, slots=True)
class CoarseningReport:
    """One of the coarsenings: the kernel's divergent regions, and what stands `outside` of them."""

    coarsening: Coarsening
    outside: Part
    regions: tuple[RegionReport, ...]

    def all(self) -> Iterator[RegionReport]:
        """Every region, outer before inner."""
        for region in self.regions:
            yield from region.all()

    @property
    def shared(self) -> int:
        """How many instructions the replicas need not repeat, estimated."""
        return self.outside.shared + sum(region.own.shared for region in self.all())

    @property
    def work(self) -> int:
        """The work of one work-item."""
        return self.outside.work + sum(region.own.work for region in self.all())

    @property
    def interleaved_work(self) -> int:
        """The part of it that stands in regions whose replicas run together while they agree."""
        return sum(region.own.work for region in self.all() if region.treatment is not Treatment.COPIES)

    @property
    def copied_work(self) -> int:
        """The part of it that stands in regions whose replicas run one after the other."""
        return sum(region.own.work for region in self.all() if region.treatment is Treatment.COPIES)


@dataclass(frozen=True, slots=True)
class KernelReport:
    """All that was done to a kernel: a report for each coarsening, in the order in which they were carried out.

    Attributes:
        kernel: its name.
        coarsenings: those with a factor above 1.
        added_arguments: what a launch of the coarsened kernel passes besides.
        before: instructions of the kernel.
        after: instructions of the coarsened kernel.
        assumptions: what was taken for granted, with the place in the source.
        cleaned: instructions that the clean-up removed; None where it was turned off.
        wide: the accesses that were merged; None where that was not asked for.
    """

    kernel: str
    coarsenings: tuple[CoarseningReport, ...]
    added_arguments: tuple[DescribedArgument, ...]
    before: int
    after: int
    assumptions: tuple[str, ...]
    cleaned: int | None = None
    wide: WideAccesses | None = None

    @property
    def factor(self) -> int:
        """How many work-items become one."""
        return math.prod(report.coarsening.factor for report in self.coarsenings)

    @property
    def per_replica(self) -> float:
        """Instructions of the coarsened kernel for each of the work-items that it stands for."""
        return self.after / self.factor


def report_of(
    lowered: Kernel,
    configuration: Configuration,
    plans: Sequence[RegionPlan],
    coarsened: Kernel,
    assumptions: Iterable[str] = (),
    not_cleaned: Kernel | None = None,
    wide: WideAccesses | None = None,
) -> KernelReport:
    """The report of a coarsening that was carried out.

    Args:
        lowered: the kernel as the front end gave it.
        configuration: what it was coarsened by, factors of 1 left out.
        plans: one for each coarsening, in the same order, as `coarsen.pipeline.carry_out` gives them.
        coarsened: what came of it.
        assumptions: in words, as `coarsen.pipeline.carry_out` gives them.
        not_cleaned: what comes of it without the clean-up; None where that was turned off.
        wide: the accesses that were merged, as an `Observer` has them.
    """
    places = SourcePlaces(lowered)
    after = _size(coarsened)
    return KernelReport(
        lowered.name,
        tuple(_coarsening(*each, places) for each in zip(configuration, plans, strict=True)),
        tuple(described_arguments(coarsened)),
        _size(lowered),
        after,
        tuple(assumptions),
        None if not_cleaned is None else _size(not_cleaned) - after,
        wide,
    )


def _size(kernel: Kernel) -> int:
    return sum(1 for _ in kernel.instructions())


def _coarsening(coarsening: Coarsening, plan: RegionPlan, places: SourcePlaces) -> CoarseningReport:
    return _Writer(coarsening, plan, places).report()


class _Writer:
    """Writes the report of one coarsening."""

    def __init__(self, coarsening: Coarsening, plan: RegionPlan, places: SourcePlaces) -> None:
        self._coarsening = coarsening
        self._plan = plan
        self._kernel = plan.divergence.kernel
        self._places = places
        forms = IndexForms(self._kernel, plan.divergence.control_flow)
        self._weights: Mapping[str, int] = block_weights(forms)

    def report(self) -> CoarseningReport:
        """The whole report."""
        inside = frozenset().union(*(planned.region.blocks for planned in self._plan.regions))
        outside = frozenset(self._kernel.block) - inside
        regions = tuple(self._region(planned) for planned in self._plan.regions)
        return CoarseningReport(self._coarsening, self._part(outside, shares=True), regions)

    def _region(self, planned: PlannedRegion) -> RegionReport:
        nested = frozenset().union(*(inner.region.blocks for inner in planned.nested))
        region = planned.region
        return RegionReport(
            region.head,
            self._places.of_branch(self._kernel.block[region.head]),
            self._places.lines(block for block in self._kernel.blocks if block.name in region.blocks),
            planned.treatment,
            planned.reason,
            self._part(region.blocks - nested, shares=planned.treatment is not Treatment.COPIES),
            tuple(self._region(inner) for inner in planned.nested),
        )

    def _part(self, blocks: frozenset[str], *, shares: bool) -> Part:
        instructions = [i for name in blocks for i in self._kernel.block[name].instructions]
        uniform = sum(not self._plan.divergence.is_divergent(instruction) for instruction in instructions)
        return Part(
            len(instructions),
            uniform,
            uniform * (self._coarsening.factor - 1) if shares else 0,
            sum(self._weights[name] * len(self._kernel.block[name].instructions) for name in blocks),
        )
