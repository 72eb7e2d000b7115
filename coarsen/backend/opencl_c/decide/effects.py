"""What an instruction does to memory, which decides how far a load may be moved."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from coarsen.analysis.builtins import Effect, effect_of
from coarsen.analysis.divergence import declaration_comments
from coarsen.ir.details import is_atomic, is_volatile
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.types import AddressSpace, PointerType

_VALUES_ONLY = frozenset({Effect.PURE, Effect.WORK_ITEM_ID, Effect.GEOMETRY, Effect.UNCHANGED})
_IGNORED = ("llvm.assume", "llvm.experimental.noalias", "llvm.lifetime", "llvm.dbg", "llvm.donothing")


class Effects:
    """Judges a kernel's instructions."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @cached_property
    def _declarations(self) -> Mapping[str, str]:
        return declaration_comments(self.kernel)

    def _call_effect(self, instruction: Instruction) -> Effect:
        if instruction.callee.startswith(_IGNORED):
            return Effect.IGNORED
        return effect_of(instruction, self._declarations.get(instruction.callee, ""))

    def is_ignored(self, instruction: Instruction) -> bool:
        """Whether nothing is written for it."""
        return instruction.opcode == "call" and self._call_effect(instruction) is Effect.IGNORED

    def must_stand(self, instruction: Instruction) -> bool:
        """Whether it does more than compute a value, so that it keeps its place."""
        if instruction.opcode == "call":
            effect = self._call_effect(instruction)
            return effect not in _VALUES_ONLY and effect not in (Effect.READS, Effect.IGNORED)
        if instruction.opcode == "load":
            return is_volatile(instruction) or is_atomic(instruction)
        return instruction.opcode in ("store", "atomicrmw", "cmpxchg", "fence")

    def reads_memory(self, instruction: Instruction) -> bool:
        """Whether its value depends on memory that may change."""
        if instruction.opcode == "load":
            type_ = instruction.operands[0].type
            return not (isinstance(type_, PointerType) and type_.address_space == AddressSpace.CONSTANT)
        return instruction.opcode == "call" and self._call_effect(instruction) is Effect.READS
