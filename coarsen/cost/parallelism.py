"""Instruction- and memory-level parallelism of a block, from its data-dependence graph; for version 1.

After Sim, Dasgupta, Kim and Vuduc (PPoPP 2012): how much work can be in flight at once follows from how deep
the work depends on itself. With the data dependences between the instructions of one block,

    ILP = operations / longest chain of dependent operations
    MLP = memory accesses / largest number of memory accesses on one chain

Phis and terminators are control, not operations. Dependences through memory are not followed: a load does not
wait for a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.cost.instruction_kinds import is_memory_access
from coarsen.ir.kernel import Instruction

_CONTROL = frozenset({"phi", "br", "ret", "switch", "unreachable"})


@dataclass(frozen=True, slots=True)
class DependenceDepth:
    """The longest chains of a block: in operations, and in memory accesses."""

    operations: int
    accesses: int


def is_operation(instruction: Instruction) -> bool:
    """Return True if an instruction is work, not control."""
    return instruction.opcode not in _CONTROL


def dependence_depth(
    instructions: Iterable[Instruction],
    standing_for: Mapping[str, str] | None = None,
    prologue: Sequence[Instruction] = (),
    counted: Callable[[Instruction], bool] = is_operation,
) -> DependenceDepth:
    """Return the longest chains of data dependences among a block's instructions.

    Args:
        instructions: those of one block, in their order.
        standing_for: values that were replaced by others, by their old name; not in the prologue.
        prologue: instructions before those; all are counted.
        counted: which instructions are links of a chain.
    """
    replaced: Mapping[str, str] = {}
    operations: dict[str, int] = {}
    accesses: dict[str, int] = {}
    deepest = most = 0
    for index, instruction in enumerate(filter(counted, (*prologue, *instructions))):
        if index == len(prologue):
            replaced = standing_for or {}
        names = [operand.text for operand in instruction.operands if operand.is_local]
        sources = [replaced.get(name, name) for name in names]
        depth = 1 + max((operations.get(source, 0) for source in sources), default=0)
        access_depth = max((accesses.get(source, 0) for source in sources), default=0)
        access_depth += is_memory_access(instruction)
        if instruction.name:
            operations[instruction.name], accesses[instruction.name] = depth, access_depth
        deepest, most = max(deepest, depth), max(most, access_depth)
    return DependenceDepth(deepest, most)
