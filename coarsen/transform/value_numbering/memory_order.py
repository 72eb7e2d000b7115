"""The states of memory: a number for each stretch of instructions in which no load can tell a difference."""

from __future__ import annotations

from coarsen.analysis.control_flow import FlowGraph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.instruction import Instruction


class MemoryOrder:
    """Follows memory through the blocks of a function, each visited after those that dominate it.

    No load moves past a store, an atomic operation, a fence or a barrier.

    Attributes:
        now: the number of the state after the last instruction.
    """

    def __init__(self, effects: EffectsOfKernel, flow: FlowGraph) -> None:
        self.now = 0
        self._effects = effects
        self._flow = flow
        self._last = 0
        self._at_end: dict[str, int] = {}

    def enter(self, block: str) -> None:
        """Go to the start of a block: where it is reached one way only, memory is as it was there."""
        predecessors = self._flow.predecessors(block)
        known = self._at_end.get(predecessors[0]) if len(predecessors) == 1 else None
        if known is None:
            self._change()
        else:
            self.now = known

    def execute(self, instruction: Instruction) -> None:
        """Go past the next instruction of the block."""
        if self._effects.may_change_memory(instruction):
            self._change()

    def leave(self, block: str) -> None:
        """Remember the state at the end of a block."""
        self._at_end[block] = self.now

    def _change(self) -> None:
        self._last += 1
        self.now = self._last
