"""A block's contribution to the features: what stands once, what once per replica, and how deep it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.cost.instruction_kinds import Kind, is_memory_access, kinds_of
from coarsen.cost.parallelism import DependenceDepth, dependence_depth, is_operation
from coarsen.cost.plan_walk import is_terminator
from coarsen.ir.kernel import Instruction

Counts = Counter[Kind]
IsDivergent = Callable[[Instruction], bool]


@dataclass(frozen=True, slots=True)
class Work:
    """Countable work: instructions by kind, and the operations and memory accesses among them."""

    kinds: Counts
    operations: int
    accesses: int


@dataclass(frozen=True, slots=True)
class BlockProfile:
    """One block: uniform work and control, which stand once, divergent work, and the depth of both."""

    once: Work
    divergent: Work
    depth: DependenceDepth


def block_profile(
    instructions: Iterable[Instruction],
    is_divergent: IsDivergent,
    prologue: Sequence[Instruction] = (),
    standing_for: Mapping[str, str] | None = None,
) -> BlockProfile:
    """Profile a block.

    Args:
        instructions: those of the block; for a rewritten query, those that take its place.
        is_divergent: whether the replicas of an instruction differ.
        prologue: instructions before those, which stand once even where they are divergent.
        standing_for: values that were replaced by others, by their old name.
    """
    once, repeated = list(prologue), list[Instruction]()
    body = tuple(instructions)
    for instruction in body:
        again = is_divergent(instruction) and not is_terminator(instruction)
        (repeated if again else once).append(instruction)
    return BlockProfile(
        once=_work(once, is_divergent),
        divergent=_work(repeated, is_divergent),
        depth=dependence_depth(body, standing_for, prologue),
    )


def _work(chosen: Sequence[Instruction], is_divergent: IsDivergent) -> Work:
    kinds: Counts = Counter()
    for instruction in chosen:
        kinds.update(_all_kinds(instruction, is_divergent(instruction)))
    operations = sum(map(is_operation, chosen))
    return Work(kinds, operations, sum(map(is_memory_access, chosen)))


def _all_kinds(instruction: Instruction, divergent: bool) -> frozenset[Kind]:
    kinds = kinds_of(instruction) | {Kind.INSTRUCTION}
    if divergent:
        return kinds | {Kind.DIVERGENT}
    return kinds | {Kind.UNIFORM_LOAD} if Kind.LOAD in kinds else kinds
