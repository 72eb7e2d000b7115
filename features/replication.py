"""What a kernel would hold after thread coarsening, by arithmetic on its blocks: nothing is compiled.

The rules are those of `transform/replicate.py`, at factor F:

    shared block        uniform instructions and the terminator once, divergent instructions F times
    divergent region    all its blocks F times, each copy but the last followed by one that enters the next
    join of a region    one with the block behind the last copy, unless it is also reached from elsewhere
    ids                 `rewritten_ids.py`

The replicas of an operation do not depend on each other, so a block's dependence depth does not grow with F.

Not counted: phis that the normal form adds where copies of a divergent loop follow each other (LCSSA);
less than one in twenty instructions in the benchmark kernels. All other counts are those of the coarsened
kernel, except where the normal form's clean-up finds replicas that it can merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.features.block_profile import BlockProfile, Counts, block_profile
from coarsen.features.instruction_kinds import Kind, kinds_of
from coarsen.features.rewritten_ids import RewrittenIds, rewrite_ids
from coarsen.ir.kernel import Block, Instruction
from coarsen.transform.coarsen import Analysed
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class BlockCopies:
    """Equal blocks of the coarsened kernel: how many, and each one's instructions and parallelism.

    `origin` is the block of the kernel that they come from: one that runs as often as they do, for new blocks.
    """

    origin: str
    copies: int
    kinds: Counts
    instruction_parallelism: float
    memory_parallelism: float


def replicated_whole(analysed: Analysed) -> frozenset[str]:
    """The names of the blocks in divergent regions, each of which stands once for every replica."""
    return frozenset[str]().union(*(region.blocks for region in analysed.regions))


def replicated_blocks(analysed: Analysed, factor: int) -> Iterator[BlockCopies]:
    """The blocks of the coarsened kernel, without work at parallelism 0; factor 1 gives the kernel's own."""
    inside = replicated_whole(analysed)
    ids = ids_at(analysed, factor)
    for block in analysed.kernel.blocks:
        profile = _profile(analysed, block, ids)
        counted = _region_block if block.name in inside else _shared_block
        yield counted(block.name, profile, factor)
    if factor > 1:
        for region in analysed.regions:
            yield from blocks_after(analysed, region, factor, analysed.divergence)


def _profile(analysed: Analysed, block: Block, ids: RewrittenIds | None) -> BlockProfile:
    body = rewritten_body(analysed, block, ids)
    return block_profile(
        body.instructions,
        lambda instruction: body.is_divergent(instruction, analysed.divergence),
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


def rewritten_body(analysed: Analysed, block: Block, ids: RewrittenIds | None) -> RewrittenBody:
    """A block as one replica of it stands in the coarsened kernel; as it is where no ids are rewritten."""
    if ids is None:
        return RewrittenBody((), tuple(block.instructions), frozenset(), {}, {})
    divergent = set(ids.divergent_prologue)
    body: list[Instruction] = []
    for instruction in block.instructions:
        replacement = ids.replacement(instruction)
        body.extend(replacement)
        if analysed.divergence.is_divergent(instruction):
            divergent.update(new.name for new in replacement if new is not instruction)
    prologue = ids.prologue if block is analysed.kernel.blocks[0] else ()
    return RewrittenBody(prologue, tuple(body), frozenset(divergent), ids.standing_for, ids.standing_for_first)


def ids_at(analysed: Analysed, factor: int) -> RewrittenIds | None:
    """The rewritten ids at a factor; None at 1, where they stay as they are."""
    if factor == 1:
        return None
    return rewrite_ids(analysed.kernel, Coarsening(factor, analysed.divergence.dimension))


def _shared_block(origin: str, profile: BlockProfile, factor: int) -> BlockCopies:
    kinds = profile.once.kinds + _times(profile.divergent.kinds, factor)
    operations = profile.once.operations + factor * profile.divergent.operations
    accesses = profile.once.accesses + factor * profile.divergent.accesses
    return BlockCopies(origin, 1, kinds, *_parallelism(operations, accesses, profile))


def _region_block(origin: str, profile: BlockProfile, factor: int) -> BlockCopies:
    kinds = profile.once.kinds + profile.divergent.kinds
    kinds[Kind.IN_DIVERGENT_REGION] = kinds[Kind.INSTRUCTION]
    operations = profile.once.operations + profile.divergent.operations
    accesses = profile.once.accesses + profile.divergent.accesses
    return BlockCopies(origin, factor, kinds, *_parallelism(operations, accesses, profile))


def _parallelism(operations: int, accesses: int, profile: BlockProfile) -> tuple[float, float]:
    """How many operations, and how many accesses, there are per level of the block's dependences."""
    return (
        operations / profile.depth.operations if operations else 0.0,
        accesses / profile.depth.accesses if accesses else 0.0,
    )


def blocks_after(analysed: Analysed, region: Region, factor: int, counted: Divergence) -> Iterator[BlockCopies]:
    """The blocks behind the copies of a region; `counted` says which of their instructions count as divergent.

    Each but the last enters the next copy as the region's head enters the first. The phis that take the
    results out are counted with the join, whose own they replace; where the join is reached from elsewhere
    it keeps those, and the last block stands for itself.
    """
    entering = analysed.kernel.block[region.head].terminator
    kinds: Counts = Counter(kinds_of(entering) | {Kind.INSTRUCTION})
    kinds[Kind.DIVERGENT] = int(counted.is_divergent(entering))
    yield BlockCopies(region.head, factor - 1, kinds, 0.0, 0.0)
    sources = set(analysed.divergence.control_flow.predecessors(region.join))
    if not sources <= region.blocks | {region.head}:
        phis = analysed.kernel.block[region.join].phis
        copies = [factor if analysed.divergence.is_divergent(phi) else 1 for phi in phis]
        divergent = sum(count for count, phi in zip(copies, phis, strict=True) if counted.is_divergent(phi))
        kinds = Counter({Kind.INSTRUCTION: 1 + sum(copies), Kind.DIVERGENT: divergent})
        yield BlockCopies(region.head, 1, kinds, 0.0, 0.0)


def _times(kinds: Counts, factor: int) -> Counts:
    return Counter({kind: count * factor for kind, count in kinds.items()})
