"""Kernels whose work-items wait for each other through memory, where those that are merged may do so.

    while (atomic_cmpxchg(lock, 0, 1) != 0);      all merged work-items take the lock: the second one waits for
    total[0] += x[id];                            the first for ever, which gives it back only after that
    atomic_xchg(lock, 0);

Merged work-items of one group wait for each other unless a barrier stands between a loop that waits and whatever
ends it, or one of them alone does both: `if (get_local_id(0) == 0)`. Merged groups always may.
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.analysis.agreement_tests import asked_id, is_wide_id
from coarsen.analysis.control_flow import reached
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.memory_effects import FUNCTIONS
from coarsen.analysis.shared_memory import SharedMemory
from coarsen.analysis.waits.progress import WaitingLoop, waiting_loops
from coarsen.analysis.waits.states import parts
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.ir.opencl.queries import query_of
from coarsen.ir.types import AddressSpace

# A block and how many barriers in it have been passed.
_Part = tuple[str, int]


def check_waits(divergence: Divergence) -> None:
    """Raise RefusalError (`waits-for-another`) where a work-item may wait for one that is merged with it.

    Args:
        divergence: of a kernel that is legal otherwise, along the dimension along which it is to be merged.
    """
    memory = SharedMemory(divergence.kernel, divergence.effects)
    for waiting in waiting_loops(divergence.control_flow, memory):
        _Waits(divergence, memory, waiting).check()


class _Waits:
    """Whom one loop waits for."""

    def __init__(self, divergence: Divergence, memory: SharedMemory, waiting: WaitingLoop) -> None:
        self._divergence = divergence
        self._kernel = divergence.kernel
        self._flow = divergence.control_flow
        self._memory = memory
        self._waiting = waiting

    def check(self) -> None:
        """Raise RefusalError if others that are merged may end the waiting."""
        for observed in self._waiting.observed:
            pointer = self._memory.reads(observed)
            if pointer is not None and any(self._is_waited_for(each, pointer) for each in self._writers(pointer)):
                raise RefusalError("waits-for-another", self._reason(pointer), observed.position)

    def _reason(self, pointer: Operand) -> str:
        root = self._memory.root(pointer)
        where = f"'{root.text.removeprefix(f'{self._kernel.name}.')}'" if root else "memory"
        who = "work-group" if self._divergence.merges_groups else "work-item"
        return f"this loop waits for what another {who} does to {where}, and that one may be merged with it"

    def _writers(self, pointer: Operand) -> Iterator[tuple[str, Instruction]]:
        """The instructions that may change the memory that a pointer leads into, with their blocks."""
        for block in self._kernel.blocks:
            for instruction in block.instructions:
                if self._memory.may_change(instruction, pointer):
                    yield block.name, instruction

    def _is_waited_for(self, writer: tuple[str, Instruction], pointer: Operand) -> bool:
        """Return True if what changes memory may be done by another one of those that are merged."""
        if self._divergence.merges_groups:
            return not (self._waiting.meets and self._memory.space(pointer) == AddressSpace.LOCAL)
        if self._waiting.meets:
            return False
        block, instruction = writer
        if not self._may_be_at_once(block, instruction):
            return False
        return self._alone_in(block).isdisjoint(self._alone_in(self._waiting.loop.header))

    # Barriers.

    def _may_be_at_once(self, block: str, instruction: Instruction) -> bool:
        """Return True unless a barrier always stands between the loop and an instruction."""
        instructions = self._kernel.block[block].instructions
        place = (block, sum(map(is_barrier, instructions[: instructions.index(instruction)])))
        barriers = {each.name: sum(map(is_barrier, each.instructions)) for each in self._kernel.blocks}
        starts = [(name, number) for name, count in barriers.items() for number in range(1, count + 1)]
        for start in [(self._flow.entry, 0), *starts]:
            passed = self._before_a_barrier(start, barriers)
            if place in passed and any(name in self._waiting.loop.blocks for name, _ in passed):
                return True
        return False

    def _before_a_barrier(self, start: _Part, barriers: dict[str, int]) -> set[_Part]:
        """The parts of blocks that are reached from one without passing a barrier."""

        def following(part: _Part) -> Iterator[_Part]:
            block, number = part
            return ((target, 0) for target in self._flow.successors(block) if number == barriers[block])

        return {start} | reached([start], following)

    # One work-item alone.

    def _alone_in(self, block: str) -> frozenset[object]:
        """Tell which merged work-item comes to a block alone: what its id is compared with, for each test."""
        found: set[object] = set()
        while block != self._flow.entry:
            branch = self._flow.immediate_dominator[block]
            targets = self._kernel.block[branch].terminator.targets
            for side, target in enumerate(targets if len(set(targets)) == 2 else ()):
                if self._flow.predecessors(target) == [branch] and self._flow.dominates(target, block):
                    found.update(self._positions(self._kernel.block[branch].terminator.operands[0], side == 0))
            block = branch
        return frozenset(found)

    def _positions(self, condition: Operand, holds: bool) -> Iterator[object]:
        """Yield what an id equals if a condition holds, or doesn't: those comparisons of which all are true."""
        pending = [(condition, holds)]
        while pending:
            value, is_true = pending.pop()
            asked = self._kernel.definition.get(value.text) if value.kind is ValueKind.INSTRUCTION else None
            if asked is None:
                continue
            if (demanded := parts(asked, is_true)) is not None:
                pending += demanded
            elif asked.opcode == "icmp" and (predicate(asked) == "eq") is is_true:
                yield from self._position(asked)

    def _position(self, comparison: Instruction) -> Iterator[object]:
        found = asked_id(self._divergence, comparison)
        if found is not None and is_wide_id(self._divergence, found) and self._is_fixed(comparison):
            yield frozenset(map(self._memory.key, comparison.operands))

    def _is_fixed(self, comparison: Instruction) -> bool:
        """Return True if a comparison is the same for a work-item at any time."""
        pending = [*comparison.operands]
        while pending:
            value = pending.pop()
            if value.kind is ValueKind.INSTRUCTION:
                definition = self._kernel.definition[value.text]
                if definition.opcode not in FUNCTIONS and query_of(definition) is None:
                    return False
                pending += definition.arguments
        return True
