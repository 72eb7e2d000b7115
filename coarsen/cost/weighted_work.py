"""The work of a coarsened kernel: its instructions by kind, weighted by how often they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.cost.block_profile import Counts
from coarsen.cost.instruction_kinds import Kind
from coarsen.cost.plan_walk import PlannedBlocks
from coarsen.cost.replication import BlockCopies


@dataclass(frozen=True)
class RegionWork:
    """Work inside divergent regions, by what makes it hard to merge; see `region_groups`."""

    guard: int = 0
    divergent_loop: int = 0
    guarded_loop: int = 0


@dataclass(frozen=True)
class WeightedWork:
    """The work of one work-item at one factor.

    `counts` are weighted; `code_size` is not. `repeated` is work that is done for each replica.
    """

    counts: Counts
    repeated: int
    regions: RegionWork
    code_size: int
    instruction_parallelism: float
    memory_parallelism: float

    @property
    def total(self) -> int:
        """All instructions."""
        return self.counts[Kind.INSTRUCTION]

    @property
    def operations(self) -> int:
        """Arithmetic: floating-point, integer, mathematical builtins."""
        return self.counts[Kind.FLOATING_POINT] + self.counts[Kind.INTEGER] + self.counts[Kind.MATH]


def region_groups(blocks: PlannedBlocks) -> Mapping[str, str]:
    """Return the field of `RegionWork` that the work of each block in a divergent region belongs to."""
    groups: dict[str, str] = {}
    for planned in blocks.plan.regions:
        region, divergence = planned.region, blocks.divergence
        loops = [loop for loop in divergence.control_flow.loops if loop.header in region.blocks]
        inner = "divergent_loop" if any(map(divergence.is_left_apart, loops)) else "guarded_loop"
        groups.update(dict.fromkeys(region.blocks, inner if loops else "guard"))
    return groups


def weighted_work(
    blocks: Sequence[BlockCopies], weights: Mapping[str, int], groups: Mapping[str, str]
) -> WeightedWork:
    """Sum up the blocks of a coarsened kernel.

    Args:
        blocks: its blocks, from `replicated_blocks`.
        weights: how often the kernel's blocks run, from `block_weights`.
        groups: what kind of region they are in, from `region_groups`.
    """
    counts: Counts = Counter()
    regions: Counter[str] = Counter()
    repeated = 0
    for block in blocks:
        times = _times(block, weights)
        for kind, count in block.kinds.items():
            counts[kind] += times * count
        inside = block.kinds[Kind.IN_DIVERGENT_REGION]
        repeated += times * (inside if block.is_repeated else block.kinds[Kind.DIVERGENT])
        if inside:
            regions[groups[block.origin]] += times * inside
    return WeightedWork(
        counts,
        repeated,
        RegionWork(**regions),
        sum(block.copies * block.kinds[Kind.INSTRUCTION] for block in blocks),
        _mean((block.instruction_parallelism, _work(block, weights)) for block in blocks),
        _mean((block.memory_parallelism, _work(block, weights)) for block in blocks),
    )


def _work(block: BlockCopies, weights: Mapping[str, int]) -> int:
    return _times(block, weights) * block.kinds[Kind.INSTRUCTION]


def _times(block: BlockCopies, weights: Mapping[str, int]) -> int:
    """Return how often equal blocks run, all together."""
    return block.copies * weights[block.origin] if block.runs else 0


def _mean(parallelism: Iterable[tuple[float, int]]) -> float:
    """Return the mean, weighted by work; blocks without such instructions (0) are left out."""
    working = [(value, work) for value, work in parallelism if value > 0]
    total = sum(work for _, work in working)
    return sum(value * work for value, work in working) / total if total else 0.0
