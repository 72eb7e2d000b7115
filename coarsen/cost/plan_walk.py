"""One walk over a plan: what is done to each block of a kernel, and how often its instructions stand.

    outside of regions      the terminator and uniform instructions once, divergent ones once for each replica
    fast path, lock-step    the same, for as long as the replicas agree; the region stands a second time besides
    copies                  the whole block once for each replica

Features, the report, register pressure and the costs of launches ask it, so that they all mean the same plan.

A block runs once for every round of every loop around it, as far as the code says: `block_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.loop_counts import trip_counts
from coarsen.analysis.regions import Region
from coarsen.ir.graph.details import TERMINATORS
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import Analysed
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms

UNKNOWN_TRIPS = 8
MAXIMUM_WEIGHT = 1_000_000


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block under a plan.

    Attributes:
        block: of the uncoarsened kernel.
        region: the innermost region with a treatment of its own that the block is in; None outside of all.
    """

    block: Block
    region: PlannedRegion | None

    @property
    def is_copied(self) -> bool:
        """Return True if the whole block stands once for each replica."""
        return self.region is not None and self.region.treatment is Treatment.COPIES


@dataclass(frozen=True)
class PlannedBlocks:
    """The blocks of a kernel under a plan."""

    plan: RegionPlan

    @property
    def kernel(self) -> Kernel:
        """The kernel before this coarsening."""
        return self.plan.divergence.kernel

    @property
    def divergence(self) -> Divergence:
        """Of the kernel along the coarsened dimension."""
        return self.plan.divergence

    def __iter__(self) -> Iterator[PlannedBlock]:
        """Yield the blocks in the kernel's order."""
        for block in self.kernel.blocks:
            yield PlannedBlock(block, self.region_of.get(block.name))

    @cached_property
    def region_of(self) -> Mapping[str, PlannedRegion]:
        """The innermost region with a treatment of its own, by block; blocks outside of all are left out."""
        found: dict[str, PlannedRegion] = {}
        for planned in self.plan.all():
            found.update(dict.fromkeys(planned.region.blocks, planned))
        return found

    @cached_property
    def copied(self) -> frozenset[str]:
        """The blocks that stand once for each replica."""
        return frozenset[str]().union(*(region.blocks for region in self.copied_regions))

    @cached_property
    def copied_regions(self) -> tuple[Region, ...]:
        """The regions that stand once for each replica; none is in another."""
        return tuple(each.region for each in self.plan.all() if each.treatment is Treatment.COPIES)

    @cached_property
    def interleaved(self) -> tuple[PlannedRegion, ...]:
        """The regions with a fast path or in lock-step, outer before inner; each has a second body."""
        return tuple(each for each in self.plan.all() if each.treatment is not Treatment.COPIES)

    @cached_property
    def parting(self) -> frozenset[str]:
        """The blocks that have a second body."""
        return frozenset[str]().union(*(each.region.blocks for each in self.interleaved))

    @cached_property
    def second_bodies(self) -> int:
        """The instructions of second bodies, each written once as a loop over the replicas."""
        lengths = {block.name: len(block.instructions) for block in self.kernel.blocks}
        return sum(lengths[block] for each in self.interleaved for block in each.region.blocks)


def planned_blocks(analysed: Analysed, transforms: Transforms = REPLICATION_ALONE) -> PlannedBlocks:
    """Return the blocks of a kernel as some transforms treat them.

    Args:
        analysed: the kernel along a dimension.
        transforms: that may be used; replication alone is what the predictors were trained with.
    """
    return PlannedBlocks(plan_regions(analysed.divergence, analysed.regions, transforms))


def is_terminator(instruction: Instruction) -> bool:
    """Return True if an instruction ends its block."""
    return instruction.opcode in TERMINATORS


def block_weights(forms: IndexForms) -> Mapping[str, int]:
    """Return how often each block runs for a work-item, at least 1, by the block's name."""
    counts = trip_counts(forms)
    weights: dict[str, int] = {}
    for block in forms.kernel.blocks:
        weight = 1
        for loop in forms.control_flow.loops_around(block.name):
            weight = min(MAXIMUM_WEIGHT, weight * max(1, counts.get(loop.header, UNKNOWN_TRIPS)))
        weights[block.name] = weight
    return weights
