"""The blocks that a kernel would hold after thread coarsening, by arithmetic on its own: nothing is compiled.

The rules are those of `transform/replicate.py`, at factor F:

    shared block        uniform instructions and the terminator once, divergent instructions F times
    copied region       all its blocks F times, each copy but the last followed by one that enters the next
    join of a copied    one with the block after the last copy, unless it is also reached from elsewhere
    interleaved region  as shared blocks, with two tests at each branch whether all replicas agree; a second body
    ids                 `rewritten_ids.py`

The replicas of an operation do not depend on each other, so a block's dependence depth does not grow with F.

Not counted: phis that the normal form adds where copies of a divergent loop follow each other (LCSSA);
less than one in twenty instructions in the benchmark kernels. By replication alone all other counts are those of
the coarsened kernel, except where the normal form's clean-up finds replicas that it can merge. How the loop over
the replicas of a second body carries their values is not counted either.

The work of a coarsened kernel is its blocks' instructions by kind, weighted by how often they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.cost.block_profile import BlockProfile, Counts, block_profile
from coarsen.cost.instruction_kinds import Kind, kinds_of
from coarsen.cost.rewritten_ids import RewrittenIds, rewrite_ids
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class BlockCopies:
    """Equal blocks of the coarsened kernel: how many, and each one's instructions and parallelism.

    Attributes:
        origin: the block of the kernel that they come from: one that runs as often as they do, for new blocks.
        copies: how many there are.
        kinds: the instructions of each, by kind.
        instruction_parallelism: 0 for a block without work.
        memory_parallelism: 0 for a block without accesses.
        runs: whether they run while the replicas agree, as all but second bodies do.
        is_repeated: whether each replica runs all of it, as it does copies.
    """

    origin: str
    copies: int
    kinds: Counts
    instruction_parallelism: float
    memory_parallelism: float
    runs: bool = True
    is_repeated: bool = False


def replicated_blocks(plan: RegionPlan, factor: int) -> Iterator[BlockCopies]:
    """Yield the blocks of the coarsened kernel, without work at parallelism 0; factor 1 gives the kernel's own.

    Args:
        plan: of the kernel.
        factor: how many work-items become one.
    """
    ids = ids_at(plan, factor)
    for block in plan.kernel.blocks:
        profile, region = _profile(plan, block, ids), plan.region_of.get(block.name)
        if region is None:
            yield _shared_block(block.name, profile, factor)
        elif region.treatment is Treatment.COPIES:
            yield _copied_block(block.name, profile, factor)
        else:
            yield _interleaved_block(block.name, profile, factor)
    yield from added_blocks(plan, factor, plan.divergence)


def added_blocks(plan: RegionPlan, factor: int, counted: Divergence) -> Iterator[BlockCopies]:
    """Yield the blocks that a plan adds: those between and after copies, tests of agreement, second bodies.

    Args:
        plan: of the kernel.
        factor: how many work-items become one.
        counted: says which of their instructions count as divergent.
    """
    if factor == 1:
        return
    for region in plan.copied_regions:
        yield from _blocks_after(plan, region, factor, counted)
    for planned in plan.interleaved:
        yield from _tests(planned, factor)
        for block in plan.kernel.in_order(planned.region.blocks):
            yield _second_body(block, counted)


def _profile(plan: RegionPlan, block: Block, ids: RewrittenIds | None) -> BlockProfile:
    body = rewritten_body(plan, block, ids)
    return block_profile(
        body.instructions,
        lambda instruction: body.is_divergent(instruction, plan.divergence),
        body.prologue,
        body.standing_for,
    )


@dataclass(frozen=True, slots=True)
class RewrittenBody:
    """A block's instructions for one replica, with its id queries rewritten.

    Args:
        prologue: what stands once before them: that of the ids, in the entry block.
        instructions: in their order.
        divergent: the names of those that rewriting added and that differ between replicas.
        standing_for: values that were replaced by others, by their old name: those of the last replica.
        standing_for_first: those of the first replica.
    """

    prologue: tuple[Instruction, ...]
    instructions: tuple[Instruction, ...]
    divergent: frozenset[str]
    standing_for: Mapping[str, str]
    standing_for_first: Mapping[str, str]

    def is_divergent(self, instruction: Instruction, divergence: Divergence) -> bool:
        """Return True if an instruction of the body, or of the prologue, is divergent."""
        return instruction.name in self.divergent or divergence.is_divergent(instruction)


def rewritten_body(plan: RegionPlan, block: Block, ids: RewrittenIds | None) -> RewrittenBody:
    """Return a block as one replica of it stands in the coarsened kernel; as it is where no ids are rewritten."""
    if ids is None:
        return RewrittenBody((), tuple(block.instructions), frozenset(), {}, {})
    divergent = set(ids.divergent_prologue)
    body: list[Instruction] = []
    for instruction in block.instructions:
        replacement = ids.replacement(instruction)
        body.extend(replacement)
        if plan.divergence.is_divergent(instruction):
            divergent.update(new.name for new in replacement if new is not instruction)
    prologue = ids.prologue if block is plan.kernel.blocks[0] else ()
    return RewrittenBody(prologue, tuple(body), frozenset(divergent), ids.standing_for, ids.standing_for_first)


def ids_at(plan: RegionPlan, factor: int) -> RewrittenIds | None:
    """Return the rewritten ids at a factor; None at 1, where they stay as they are."""
    if factor == 1:
        return None
    return rewrite_ids(plan.kernel, Coarsening(factor, plan.divergence.dimension))


def _shared_block(origin: str, profile: BlockProfile, factor: int) -> BlockCopies:
    kinds = profile.once.kinds + _times(profile.divergent.kinds, factor)
    operations = profile.once.operations + factor * profile.divergent.operations
    accesses = profile.once.accesses + factor * profile.divergent.accesses
    return BlockCopies(origin, 1, kinds, *_parallelism(operations, accesses, profile))


def _interleaved_block(origin: str, profile: BlockProfile, factor: int) -> BlockCopies:
    shared = _shared_block(origin, profile, factor)
    shared.kinds[Kind.IN_DIVERGENT_REGION] = shared.kinds[Kind.INSTRUCTION]
    return shared


def _copied_block(origin: str, profile: BlockProfile, factor: int) -> BlockCopies:
    kinds = profile.once.kinds + profile.divergent.kinds
    kinds[Kind.IN_DIVERGENT_REGION] = kinds[Kind.INSTRUCTION]
    operations = profile.once.operations + profile.divergent.operations
    accesses = profile.once.accesses + profile.divergent.accesses
    parallelism = _parallelism(operations, accesses, profile)
    return BlockCopies(origin, factor, kinds, *parallelism, is_repeated=True)


def _parallelism(operations: int, accesses: int, profile: BlockProfile) -> tuple[float, float]:
    """Return how many operations, and how many accesses, there are per level of the block's dependences."""
    return (
        operations / profile.depth.operations if operations else 0.0,
        accesses / profile.depth.accesses if accesses else 0.0,
    )


def _blocks_after(plan: RegionPlan, region: Region, factor: int, counted: Divergence) -> Iterator[BlockCopies]:
    """Yield the blocks after the copies of a region.

    Each but the last enters the next copy as the region's head enters the first. The phis that take the
    results out are counted with the join, whose own they replace; where the join is reached from elsewhere
    it keeps those, and the last block stands for itself.
    """
    entering = plan.kernel.block[region.head].terminator
    kinds: Counts = Counter(kinds_of(entering) | {Kind.INSTRUCTION})
    kinds[Kind.DIVERGENT] = int(counted.is_divergent(entering))
    yield BlockCopies(region.head, factor - 1, kinds, 0.0, 0.0)
    sources = set(plan.divergence.control_flow.predecessors(region.join))
    if not sources <= region.blocks | {region.head}:
        phis = plan.kernel.block[region.join].phis
        copies = [factor if plan.divergence.is_divergent(phi) else 1 for phi in phis]
        divergent = sum(count for count, phi in zip(copies, phis, strict=True) if counted.is_divergent(phi))
        kinds = Counter({Kind.INSTRUCTION: 1 + sum(copies), Kind.DIVERGENT: divergent})
        yield BlockCopies(region.head, 1, kinds, 0.0, 0.0)


def _tests(planned: PlannedRegion, factor: int) -> Iterator[BlockCopies]:
    """Yield the tests at each branch of a region whether all replicas go one way, or else all the other."""
    for block in sorted(planned.branches):
        # The first stand in the branch's own block, the second with a branch in one of their own.
        logic = 2 * (factor - 1)
        kinds = {Kind.INSTRUCTION: logic + 1, Kind.DIVERGENT: logic + 1, Kind.INTEGER: logic, Kind.BRANCH: 1}
        yield BlockCopies(block, 1, Counter(kinds), 0.0, 0.0)


def _second_body(block: Block, counted: Divergence) -> BlockCopies:
    """Return a block of a slow path, which is a loop over the replicas."""
    kinds: Counts = Counter()
    for instruction in block.instructions:
        kinds.update(kinds_of(instruction) | {Kind.INSTRUCTION, Kind.IN_DIVERGENT_REGION})
        kinds[Kind.DIVERGENT] += counted.is_divergent(instruction)
    return BlockCopies(block.name, 1, kinds, 0.0, 0.0, runs=False)


def _times(kinds: Counts, factor: int) -> Counts:
    return Counter({kind: count * factor for kind, count in kinds.items()})


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


def region_groups(plan: RegionPlan) -> Mapping[str, str]:
    """Return the field of `RegionWork` that the work of each block in a divergent region belongs to."""
    groups: dict[str, str] = {}
    for planned in plan.regions:
        region, divergence = planned.region, plan.divergence
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
        times = _runs_of(block, weights)
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
    return _runs_of(block, weights) * block.kinds[Kind.INSTRUCTION]


def _runs_of(block: BlockCopies, weights: Mapping[str, int]) -> int:
    """Return how often equal blocks run, all together."""
    return block.copies * weights[block.origin] if block.runs else 0


def _mean(parallelism: Iterable[tuple[float, int]]) -> float:
    """Return the mean, weighted by work; blocks without such instructions (0) are left out."""
    working = [(value, work) for value, work in parallelism if value > 0]
    total = sum(work for _, work in working)
    return sum(value * work for value, work in working) / total if total else 0.0
