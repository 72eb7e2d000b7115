"""The states of memory: a number for each stretch of instructions in which no load can tell a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coarsen.analysis.control_flow import FlowGraph
from coarsen.analysis.distinct_arguments import distinct_arguments
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Named

_NEVER_CHANGED = -1


class MemoryOrder:
    """Follows memory through the blocks of a function, each visited after those that dominate it.

    No load moves past a store, an atomic operation, a fence or a barrier, unless these are known to be to other
    parts of memory.

    Args:
        effects: the judge of the function's instructions.
        flow: the function's.
        parts: which memory instructions access, where that tells them apart; None for memory as a whole.
    """

    def __init__(self, effects: EffectsOfKernel, flow: FlowGraph, parts: MemoryParts | None = None) -> None:
        self._effects = effects
        self._flow = flow
        self._parts = parts
        self._last = 0
        self._now = _State()
        self._at_end: dict[str, _State] = {}

    def enter(self, block: str) -> None:
        """Go to the start of a block: where it is reached one way only, memory is as it was there."""
        predecessors = self._flow.predecessors(block)
        known = self._at_end.get(predecessors[0]) if len(predecessors) == 1 else None
        self._now = self._changed(None) if known is None else known

    def execute(self, instruction: Instruction) -> None:
        """Go past the next instruction of the block."""
        if self._effects.may_change_memory(instruction):
            self._now = self._changed(None if self._parts is None else self._parts.written(instruction))

    def leave(self, block: str) -> None:
        """Remember the state at the end of a block."""
        self._at_end[block] = self._now

    def state(self, instruction: Instruction) -> int:
        """Return the number of the state of the memory that a load reads; that of all memory for anything else."""
        if self._parts is None or instruction.opcode is not Opcode.LOAD:
            return self._now.last
        if self._parts.is_never_written(instruction):
            return _NEVER_CHANGED
        return self._now.of(self._parts.read(instruction))

    def _changed(self, parts: Roots | None) -> _State:
        """Return the state after a change of some parts of memory; None for all."""
        self._last += 1
        if parts is None:
            return _State(self._last, self._last)
        return _State(self._last, self._now.all_changed, {**self._now.changed, **dict.fromkeys(parts, self._last)})


@dataclass(frozen=True, slots=True)
class _State:
    """When memory last changed: any of it, all of it, and each part since then."""

    last: int = 0
    all_changed: int = 0
    changed: Mapping[Named, int] = field(default_factory=dict)

    def of(self, parts: Roots | None) -> int:
        """Return when one of some parts last changed; None for parts that aren't known."""
        if parts is None:
            return self.last
        return max((self.all_changed, *(self.changed.get(part, 0) for part in parts)))


# The parts of memory of a kernel whose arguments point to distinct memory: one for each argument and variable.
#
#     store float %x, %c[%i]           changes what loads through %c read, and no load through %a
#     barrier()                        changes whatever is written: not %a, through which nobody writes
#
# What the kernel writes through no argument is not written while it runs, by other work-items neither.


@dataclass(frozen=True)
class MemoryParts:
    """Tells the parts of memory that instructions of one function access.

    Attributes:
        read_only: the arguments to memory objects through which nothing is written.
    """

    effects: EffectsOfKernel
    roots: PointerRoots
    read_only: frozenset[Named]

    @classmethod
    def of(cls, function: Function, effects: EffectsOfKernel) -> MemoryParts | None:
        """Return the parts of a function's memory; None where not all pointers are known."""
        roots = PointerRoots()
        found = distinct_arguments(function, effects, roots)
        if found is None:
            return None
        read_only = (function.arguments[index] for index in found.pointers if index not in found.written)
        return cls(effects, roots, frozenset(read_only))

    def written(self, instruction: Instruction) -> Roots | None:
        """Return what an instruction may write; None for anything, and where it orders memory."""
        touched = self.effects.of(instruction)
        if touched.orders or touched.writes_anything:
            return None
        return self.roots.of_all(touched.writes)

    def read(self, load: Instruction) -> Roots | None:
        """Return what a load reads; None where that isn't known."""
        return self.roots.of(load.operands[0])

    def is_never_written(self, load: Instruction) -> bool:
        """Return True if a load reads what nothing writes while the kernel runs."""
        roots = self.read(load)
        return roots is not None and roots <= self.read_only
