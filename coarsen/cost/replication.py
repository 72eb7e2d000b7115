"""The blocks that a kernel would hold after replication, by arithmetic on its own: nothing is compiled.

The rules are those of `transform/replicate.py`, at factor F:

    shared block        uniform instructions and the terminator once, divergent instructions F times
    copied region       all its blocks F times, each copy but the last followed by one that enters the next
    join of a copied    one with the block after the last copy, unless it is also reached from elsewhere
    ids                 `rewritten_ids.py`

The replicas of an operation do not depend on each other, so a block's dependence depth does not grow with F.

Not counted: phis that the normal form adds where copies of a divergent loop follow each other (LCSSA);
less than one in twenty instructions in the benchmark kernels. All other counts are those of the coarsened kernel,
except where the normal form's clean-up finds replicas that it can merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.cost.block_profile import dependence_depth, is_operation
from coarsen.cost.instruction_kinds import Kind, Kinds, is_memory_access, kinds_of
from coarsen.cost.rewritten_ids import RewrittenIds, rewrite_ids
from coarsen.ir.graph.details import TERMINATORS
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.transform.regions.plan import RegionPlan
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
    """

    origin: str
    copies: int
    kinds: Counter[Kind]
    instruction_parallelism: float
    memory_parallelism: float


def replicated_blocks(plan: RegionPlan, factor: int) -> Iterator[BlockCopies]:
    """Yield the blocks of the coarsened kernel, without work at parallelism 0; factor 1 gives the kernel's own.

    Args:
        plan: of the kernel, of replication alone.
        factor: how many work-items become one.
    """
    ids = ids_at(plan, factor)
    for block in plan.kernel.blocks:
        yield _replicated(plan, rewritten_body(plan, block, ids), block.name, factor)
    yield from added_blocks(plan, factor, plan.divergence)


def added_blocks(plan: RegionPlan, factor: int, counted: Divergence) -> Iterator[BlockCopies]:
    """Yield the blocks that a plan adds: those between and after copies.

    Args:
        plan: of the kernel.
        factor: how many work-items become one.
        counted: says which of their instructions count as divergent.
    """
    for region in plan.copied_regions if factor > 1 else ():
        yield from _blocks_after(plan, region, factor, counted)


def _replicated(plan: RegionPlan, body: RewrittenBody, origin: str, factor: int) -> BlockCopies:
    is_copied = origin in plan.copied
    prologue = [(instruction, 1) for instruction in body.prologue]
    kinds: Counter[Kind] = Counter()
    operations = accesses = 0
    for instruction, times in (*prologue, *body.repeated(plan, 1 if is_copied else factor)):
        for kind in _all_kinds(instruction, divergent=body.is_divergent(instruction, plan.divergence)):
            kinds[kind] += times
        operations += times * is_operation(instruction)
        accesses += times * is_memory_access(instruction)
    if is_copied:
        kinds[Kind.IN_DIVERGENT_REGION] = kinds[Kind.INSTRUCTION]
    longest, most = dependence_depth(body.instructions, body.standing_for, body.prologue)
    parallelism = operations / longest if operations else 0.0
    in_flight = accesses / most if accesses else 0.0
    return BlockCopies(origin, factor if is_copied else 1, kinds, parallelism, in_flight)


def _all_kinds(instruction: Instruction, *, divergent: bool) -> Kinds:
    kinds = kinds_of(instruction) | {Kind.INSTRUCTION}
    if divergent:
        return kinds | {Kind.DIVERGENT}
    return kinds | {Kind.UNIFORM_LOAD} if Kind.LOAD in kinds else kinds


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

    def repeated(self, plan: RegionPlan, factor: int) -> Iterator[tuple[Instruction, int]]:
        """Yield the instructions, each with how often it stands at a factor: divergent ones for each replica."""
        for each in self.instructions:
            is_repeated = each.opcode not in TERMINATORS and self.is_divergent(each, plan.divergence)
            yield each, factor if is_repeated else 1


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


def _blocks_after(plan: RegionPlan, region: Region, factor: int, counted: Divergence) -> Iterator[BlockCopies]:
    """Yield the blocks after the copies of a region.

    Each but the last enters the next copy as the region's head enters the first. The phis that take the
    results out are counted with the join, whose own they replace; where the join is reached from elsewhere
    it keeps those, and the last block stands for itself.
    """
    entering = plan.kernel.block[region.head].terminator
    kinds: Counter[Kind] = Counter(kinds_of(entering) | {Kind.INSTRUCTION})
    kinds[Kind.DIVERGENT] = int(counted.is_divergent(entering))
    yield BlockCopies(region.head, factor - 1, kinds, 0.0, 0.0)
    sources = set(plan.divergence.control_flow.predecessors(region.join))
    if not sources <= region.blocks | {region.head}:
        phis = plan.kernel.block[region.join].phis
        copies = [factor if plan.divergence.is_divergent(phi) else 1 for phi in phis]
        divergent = sum(count for count, phi in zip(copies, phis, strict=True) if counted.is_divergent(phi))
        kinds = Counter({Kind.INSTRUCTION: 1 + sum(copies), Kind.DIVERGENT: divergent})
        yield BlockCopies(region.head, 1, kinds, 0.0, 0.0)
