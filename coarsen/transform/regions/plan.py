"""What is done to each divergent region of a kernel, and why not more."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.errors import SourcePosition
from coarsen.ir.kernel import Kernel
from coarsen.variant.transforms import Transforms

_SHORT = 30


class Treatment(enum.StrEnum):
    """How a divergent region is carried out for the replicas."""

    COPIES = "copies"
    FAST_PATH = "fast path"
    LOCK_STEP = "lock-step"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no more was done, with a region or a location: a stable code, and a sentence."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a replica comes into a region: at the branch of `block`, or at `block`, the header of a loop."""

    block: str
    is_restart: bool = False


@dataclass(frozen=True)
class PlannedRegion:
    """A divergent region and what is done to it.

    Attributes:
        region: the blocks.
        treatment: copies one after the other, or the replicas interleaved for as long as they agree.
        entry: where a replica that goes on alone comes in.
        reason: why the treatment is `COPIES`; None for the others.
        branches: the blocks whose branches are tested for agreement; where the replicas part there, each goes on
            alone in the region's slow path. Empty for copies.
        nested: the divergent regions inside that the replicas come out of together, as they are treated while the
            replicas agree. Empty for copies.
    """

    region: Region
    treatment: Treatment
    entry: Entry
    reason: Reason | None = None
    branches: frozenset[str] = frozenset()
    nested: tuple[PlannedRegion, ...] = ()

    def all(self) -> Iterator[PlannedRegion]:
        """Yield this region and those nested in it, outer before inner."""
        yield self
        for region in self.nested:
            yield from region.all()

    def is_left_from(self, block: str) -> bool:
        """Return True if an edge from a block to the region's join is a way out of the region."""
        return block == self.region.head or block in self.region.blocks

    def first_target(self, flow: ControlFlow, block: str) -> str:
        """Return the side of one of `branches` that is tested first: the way on through the region or its loop."""
        targets = flow.kernel.block[block].terminator.targets
        loop = flow.loop_of[block]
        for target in targets:
            stays = loop is None or loop.header not in self.region.blocks or target in loop.blocks
            if stays and target != self.region.join:
                return target
        return targets[0]


@dataclass(frozen=True)
class RegionPlan:
    """The plan for one coarsening of a kernel.

    Attributes:
        divergence: of the kernel along the coarsened dimension.
        regions: its outermost divergent regions in reverse post-order.
        transforms: what could be used.
    """

    divergence: Divergence
    regions: tuple[PlannedRegion, ...]
    transforms: Transforms

    def all(self) -> Iterator[PlannedRegion]:
        """Yield every region, outer before inner."""
        for region in self.regions:
            yield from region.all()

    @property
    def kernel(self) -> Kernel:
        """The kernel before this coarsening."""
        return self.divergence.kernel

    @cached_property
    def region_of(self) -> Mapping[str, PlannedRegion]:
        """The innermost region with a treatment of its own, by block; blocks outside of all are left out."""
        found: dict[str, PlannedRegion] = {}
        for planned in self.all():
            found.update(dict.fromkeys(planned.region.blocks, planned))
        return found

    @cached_property
    def copied_regions(self) -> tuple[Region, ...]:
        """The regions that stand once for each replica; none is in another."""
        return tuple(each.region for each in self.all() if each.treatment is Treatment.COPIES)

    @cached_property
    def copied(self) -> frozenset[str]:
        """The blocks that stand once for each replica."""
        return frozenset[str]().union(*(region.blocks for region in self.copied_regions))

    @cached_property
    def interleaved(self) -> tuple[PlannedRegion, ...]:
        """The regions with a fast path or in lock-step, outer before inner; each has a second body."""
        return tuple(each for each in self.all() if each.treatment is not Treatment.COPIES)

    @cached_property
    def diverged(self) -> frozenset[str]:
        """The blocks that have a second body."""
        return frozenset[str]().union(*(each.region.blocks for each in self.interleaved))

    @cached_property
    def second_bodies(self) -> int:
        """The instructions of second bodies, each written once as a loop over the replicas."""
        lengths = {block.name: len(block.instructions) for block in self.kernel.blocks}
        return sum(lengths[block] for each in self.interleaved for block in each.region.blocks)

    def short_loops_in_lock_step(self) -> Iterator[SourcePosition | None]:
        """Yield where each short loop in lock-step stands: Intel's CPU compiler gets some of these wrong."""
        blocks = self.divergence.kernel.block
        for planned in self.all():
            length = sum(len(blocks[name].instructions) for name in planned.region.blocks)
            if planned.treatment is Treatment.LOCK_STEP and length < _SHORT:
                places = (
                    i.position for name in sorted(planned.branches) for i in reversed(blocks[name].instructions)
                )
                yield next((place for place in places if place is not None), None)
