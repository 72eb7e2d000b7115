"""From a kernel to its features, as Magni, Dubach and O'Boyle (PACT 2014), section 6.3.1, define them.

    kernel ─▶ legality, divergence, plan ─▶ blocks at a factor ─▶ Features

Only the first step looks at the kernel as a whole; it is taken once for all factors. Where the paper's words leave
something open, its authors' pass decides. Counted is, in the kernel coarsened by a factor (`replication.py` says
what that holds):

    divergent instructions     those that depend on the thread-id, along any dimension
    divergent regions          of the control-flow graph, each controlled by a divergent branch: nested ones count
    instructions in them, and their share of all: each once, in however many regions it stands
    ILP                        instructions / longest chain of dependent ones, phis and branches too; block mean
    MLP                        loads between a load and the first use of its value in the block; mean of the loads
                               that have one, 0 without; mean of all blocks
    uniform loads              those that are uniform along the coarsened dimension

A divergent instruction stands beside its replicas, so replicas of a load come into each other's intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from coarsen.analysis.control_flow import EXIT, ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.cost.block_profile import dependence_depth, region_plan
from coarsen.cost.instruction_kinds import Kind, kinds_of
from coarsen.cost.replication import (
    BlockCopies,
    RewrittenBody,
    added_blocks,
    ids_at,
    replicated_blocks,
    rewritten_body,
)
from coarsen.errors import InvalidInputError
from coarsen.features.feature_table import FACTORS, Features, FeatureTable, kernel_identity
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan import RegionPlan


def feature_table(kernel: Kernel, dimension: int = 0, factors: Iterable[int] = FACTORS) -> FeatureTable:
    """Return the features of a kernel coarsened by each factor through replication, without coarsening it.

    They are the 17 of Magni, Dubach and O'Boyle (PACT 2014), table 3.

    Args:
        kernel: the kernel as it was lowered, uncoarsened.
        dimension: the dimension of the NDRange that is coarsened, 0, 1 or 2.
        factors: how many work-items are merged into one, each at least 1.

    Returns:
        The features by factor, in rising order.

    Raises:
        RefusalError: the kernel can't be coarsened.
        InvalidInputError: a factor below 1, or none.
    """
    wanted = sorted(set(factors))
    if not wanted or wanted[0] < 1:
        named = ", ".join(map(str, wanted)) or "none"
        raise InvalidInputError(f"the factors must be at least 1, not {named}")
    features = _Features(region_plan(analyse(kernel, dimension)))
    rows = {factor: features.at(factor) for factor in wanted}
    return FeatureTable(kernel.name, dimension, rows, kernel_identity(kernel))


class _Features:
    """The features of a kernel under a plan, at any factor."""

    def __init__(self, planned: RegionPlan) -> None:
        self._planned = planned
        flow = planned.divergence.control_flow
        dimension = planned.divergence.dimension
        self._divergence = Divergence(planned.kernel, dimension, flow, every_dimension=True)
        self._regions = controlled_regions(flow, self._divergence.branches)
        self._in_regions = frozenset[str]().union(*self._regions.values())

    def at(self, factor: int) -> Features:
        """Return the features at a factor."""
        replicated = tuple(replicated_blocks(self._planned, factor))
        counts = _total(replicated)
        blocks = tuple(self._blocks(factor))
        found = _total(blocks)
        inside = _total(block for block in blocks if block.origin in self._in_regions)[Kind.INSTRUCTION]
        return Features(
            basic_blocks=sum(each.copies for each in replicated),
            branches=counts[Kind.BRANCH],
            divergent_instructions=found[Kind.DIVERGENT],
            divergent_region_instructions=inside,
            divergent_region_ratio=inside / found[Kind.INSTRUCTION],
            divergent_regions=self._region_count(factor),
            instructions=counts[Kind.INSTRUCTION],
            floating_point_instructions=counts[Kind.FLOATING_POINT],
            instruction_level_parallelism=_mean(blocks, [block.instruction_parallelism for block in blocks]),
            # The paper leaves a kernel without floating point open; it counts as one instruction then.
            integer_floating_point_ratio=counts[Kind.INTEGER] / max(1, counts[Kind.FLOATING_POINT]),
            integer_instructions=counts[Kind.INTEGER],
            math_builtins=counts[Kind.MATH],
            memory_level_parallelism=_mean(blocks, [block.memory_parallelism for block in blocks]),
            loads=counts[Kind.LOAD],
            stores=counts[Kind.STORE],
            uniform_loads=counts[Kind.UNIFORM_LOAD],
            barriers=counts[Kind.BARRIER],
        )

    def _region_count(self, factor: int) -> int:
        """A region is replicated where its branch is: in a region that is copied, or as the entry to one."""
        replicated = self._planned.copied | {region.head for region in self._planned.copied_regions}
        return sum(factor if branch in replicated else 1 for branch in self._regions)

    def _blocks(self, factor: int) -> Iterator[BlockCopies]:
        """Yield the blocks as the paper has their divergence and parallelism."""
        ids = ids_at(self._planned, factor)
        for block in self._planned.kernel.blocks:
            body = rewritten_body(self._planned, block, ids)
            is_copied = block.name in self._planned.copied
            repeated = list(body.repeated(self._planned, 1 if is_copied else factor))
            listed = [*((each, 1) for each in body.prologue), *repeated]
            count = sum(times for _, times in listed)
            divergent = sum(times for each, times in listed if body.is_divergent(each, self._divergence))
            kinds = Counter({Kind.INSTRUCTION: count, Kind.DIVERGENT: divergent})
            loads = loads_in_flight(body.instructions, [times for _, times in repeated])
            yield BlockCopies(block.name, factor if is_copied else 1, kinds, count / _depth(body), loads)
        for added in added_blocks(self._planned, factor, self._divergence):
            # A branch, or phis and a branch that depends on none of them.
            yield replace(added, instruction_parallelism=added.kinds[Kind.INSTRUCTION])


def _depth(body: RewrittenBody) -> int:
    """The longest chain of a block's instructions: that of the last replica, or to the branch, of the first."""
    last, _ = dependence_depth(body.instructions[:-1], body.standing_for, body.prologue, all_counted=True)
    first, _ = dependence_depth(body.instructions, body.standing_for_first, body.prologue, all_counted=True)
    return max(last, first)


def controlled_regions(flow: ControlFlow, branches: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """Return the blocks that each of some branches decides about: those up to its immediate post-dominator.

    Of branches that decide about the same blocks, as at several places of a loop, the first is taken; a branch
    that decides about none is left out.

    Args:
        flow: the kernel's.
        branches: the names of blocks that end in a branch.
    """
    regions: dict[frozenset[str], str] = {}
    for branch in flow.in_order(branches):
        blocks = flow.between(branch, flow.immediate_post_dominator.get(branch, EXIT))
        if blocks:
            regions.setdefault(blocks, branch)
    return {branch: blocks for blocks, branch in regions.items()}


def loads_in_flight(instructions: Sequence[Instruction], times: Sequence[int]) -> float:
    """Return the mean number of loads between a load of a block and the first use of its value there.

    Args:
        instructions: those of the block, in their order.
        times: how often each stands there; replicas follow each other.

    Returns:
        0 where no load has its first use in the block.
    """
    loads = [Kind.LOAD in kinds_of(instruction) for instruction in instructions]
    total = intervals = 0.0
    for place, instruction in enumerate(instructions):
        use = _first_use(instructions, place) if loads[place] and instruction.name else None
        if use is None:
            continue
        between = sum(count for count, load in list(zip(times, loads, strict=True))[place + 1 : use] if load)
        # On average half of the other replicas come after a replica, and half of those of its use before its own.
        others = (times[place] - 1) / 2
        if loads[use] and times[use] > 1 and times[place] > 1:
            others += (times[use] - 1) / 2
        total += times[place] * (between + others)
        intervals += times[place]
    return total / intervals if intervals else 0.0


def _first_use(instructions: Sequence[Instruction], place: int) -> int | None:
    name = instructions[place].name
    for later in range(place + 1, len(instructions)):
        if any(operand.is_local and operand.text == name for operand in instructions[later].operands):
            return later
    return None


def _mean(blocks: Sequence[BlockCopies], values: Sequence[float]) -> float:
    """The mean over all blocks, each copy with the same weight."""
    copies = sum(block.copies for block in blocks)
    return sum(block.copies * value for block, value in zip(blocks, values, strict=True)) / copies


def _total(blocks: Iterable[BlockCopies]) -> Counter[Kind]:
    total: Counter[Kind] = Counter()
    for block in blocks:
        for kind, count in block.kinds.items():
            total[kind] += block.copies * count
    return total
