"""Values that a loop computes anew in each iteration and that are always the same.

loop: %row = mul i32 %i, %n            %row, %index and %p are the same in each iteration
      %index = add i32 %row, %j        if %i, %n, %j and %c come from outside
      %p = getelementptr float, %c, %index
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import CallSite
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.graph.rewriting import without_operands

_DIVISIONS = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})
# By these a division may trap.
_TRAPPING = ("0", "-1")
# Longer expressions are taken for changing ones.
_DEEPEST = 60


class Invariants:
    """Tells the invariant values of one loop.

    Args:
        blocks: the names of the loop's.
        effects: the judge of the function's instructions.
        initial: values of the loop's phis to take as known; without them, phis change.
        loads: those that may be carried out outside of the loop as well.
    """

    def __init__(
        self,
        blocks: frozenset[str],
        effects: EffectsOfKernel,
        initial: Mapping[Operand, Operand] | None = None,
        loads: frozenset[Instruction] = frozenset(),
    ) -> None:
        self._blocks = blocks
        self._effects = effects
        self._initial = initial or {}
        self._loads = loads
        self._keys: dict[Instruction, Hashable | None] = {}

    def key(self, value: Operand, depth: int = 0) -> Hashable | None:
        """Return what is equal for values that are computed alike; None for one that may change.

        Args:
            value: an operand of an instruction of the loop.
            depth: of the expression around it.
        """
        if value in self._initial:
            return self._initial[value]
        if not isinstance(value, Instruction):
            return value
        if value not in self._keys:
            self._keys[value] = self._computed(value, depth)
        return self._keys[value]

    def _computed(self, instruction: Instruction, depth: int) -> Hashable | None:
        changes = self._is_inside(instruction)
        if depth > _DEEPEST or not self._may_be_moved(instruction):
            return None if changes else instruction
        operands = [self.key(operand, depth + 1) for operand in instruction.operands]
        if any(operand is None for operand in operands):
            return None if changes else instruction
        detail = None if isinstance(instruction.detail, CallSite) else instruction.detail
        return (instruction.opcode, detail, instruction.type, *operands)

    def _is_inside(self, instruction: Instruction) -> bool:
        return instruction.block is not None and instruction.block.name in self._blocks

    def _may_be_moved(self, instruction: Instruction) -> bool:
        """Return True if an instruction may be carried out where it is not reached."""
        if instruction.opcode in _DIVISIONS:
            divisor = instruction.operands[1]
            is_number = isinstance(divisor, Constant) and divisor.text.removeprefix("-").isdecimal()
            return is_number and divisor.text not in _TRAPPING
        return instruction in self._loads or self._effects.is_function_of_operands(instruction)

    def copied(self, value: Operand, build: Builder, copies: dict[Operand, Operand]) -> Operand:
        """Return an invariant value, computed once more outside of the loop.

        Args:
            value: of which `key` knows that it does not change.
            build: where it is computed.
            copies: what is there already, added to.
        """
        if value in self._initial:
            return self._initial[value]
        if not isinstance(value, Instruction) or not self._is_inside(value):
            return value
        if value not in copies:
            operands = [self.copied(operand, build, copies) for operand in value.operands]
            copy = without_operands(value)
            copy.set_operands(operands)
            copies[value] = build.insert(copy)
        return copies[value]
