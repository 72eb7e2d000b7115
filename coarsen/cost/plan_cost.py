"""The static cost of a plan: the instructions of each region and outside of all, by kind, and how often they run.

A uniform instruction that the F replicas carry out together stands once, not F times: F - 1 of it are *shared*.
That holds for the uniform instructions outside of divergent regions, and for those in a region whose replicas are
interleaved for as long as they agree; in a region of copies nothing is shared. It is an estimate of the code as it
was before LLVM's passes looked at it, for replicas that agree.

*Work* is instructions weighted by how often they run: once for every round of the loops around them, as far as the
code says (`block_profile.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.cost.block_profile import block_weights
from coarsen.cost.instruction_kinds import Kind, kinds_of
from coarsen.cost.register_pressure import RegisterPressure
from coarsen.ir.graph.instruction import Block
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment


@dataclass(frozen=True, slots=True)
class Part:
    """Some blocks of a kernel.

    Attributes:
        instructions: how many stand there, for one work-item.
        uniform: how many of them are the same for all replicas.
        shared: how many the replicas need not repeat, estimated.
        work: the instructions weighted by how often they run.
        kinds: the instructions by kind, unweighted; one may be of several kinds, or of none.
    """

    instructions: int
    uniform: int
    shared: int
    work: int
    kinds: Mapping[Kind, int] = field(default_factory=dict)

    @property
    def accesses(self) -> int:
        """The loads and stores; what does both counts twice."""
        return self.kinds.get(Kind.LOAD, 0) + self.kinds.get(Kind.STORE, 0)


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
class PlanCost:
    """The cost of one coarsening.

    Attributes:
        outside: what stands outside of divergent regions.
        regions: the outermost divergent regions.
        second_bodies: instructions that stand in slow paths, for replicas that part.
        factor: of the coarsening.
        pressure: the registers of the kernel under the plan.
    """

    outside: Part
    regions: tuple[RegionCost, ...]
    second_bodies: int
    factor: int
    pressure: RegisterPressure

    @property
    def live_words(self) -> int:
        """The 32-bit registers that a coarsened work-item needs, estimated."""
        return self.pressure.maximum(self.factor)

    def all(self) -> Iterator[RegionCost]:
        """Yield every region, outer before inner."""
        for region in self.regions:
            yield from region.all()

    def parts(self) -> Iterator[Part]:
        """Yield what stands outside, then each region's own."""
        yield self.outside
        yield from (region.own for region in self.all())

    @property
    def shared(self) -> int:
        """Return how many instructions the replicas need not repeat, estimated."""
        return sum(part.shared for part in self.parts())

    @property
    def work(self) -> int:
        """The work of one work-item."""
        return sum(part.work for part in self.parts())

    def work_of(self, *treatments: Treatment) -> int:
        """Return the part of it that stands in regions treated so."""
        return sum(region.own.work for region in self.all() if region.planned.treatment in treatments)


def plan_cost(plan: RegionPlan, factor: int) -> PlanCost:
    """Return the cost of a plan.

    Args:
        plan: of one coarsening.
        factor: how many work-items, or work-groups, become one.
    """
    return _Counter(plan, factor).cost()


class _Counter:
    """Sums up the blocks of a plan."""

    def __init__(self, plan: RegionPlan, factor: int) -> None:
        self._plan = plan
        self._factor = factor
        self._weights = block_weights(IndexForms(plan.kernel, plan.divergence.control_flow))
        self._of_region: dict[str | None, list[Block]] = {}
        for block in plan.kernel.blocks:
            region = plan.region_of.get(block.name)
            self._of_region.setdefault(region.region.head if region else None, []).append(block)

    def cost(self) -> PlanCost:
        """Return the whole plan."""
        return PlanCost(
            self._part(self._of_region.get(None, ()), shares=True),
            tuple(map(self._region, self._plan.regions)),
            self._plan.second_bodies,
            self._factor,
            RegisterPressure(self._plan, rescaled=self._factor > 1),
        )

    def _region(self, planned: PlannedRegion) -> RegionCost:
        own = self._of_region.get(planned.region.head, ())
        shares = planned.treatment is not Treatment.COPIES
        return RegionCost(planned, self._part(own, shares=shares), tuple(map(self._region, planned.nested)))

    def _part(self, blocks: Iterable[Block], *, shares: bool) -> Part:
        instructions = uniform = work = 0
        kinds: Counter[Kind] = Counter()
        for block in blocks:
            length = len(block.instructions)
            instructions += length
            work += self._weights[block.name] * length
            for instruction in block.instructions:
                uniform += not self._plan.divergence.is_divergent(instruction)
                kinds.update(kinds_of(instruction))
        return Part(instructions, uniform, uniform * (self._factor - 1) if shares else 0, work, kinds)
