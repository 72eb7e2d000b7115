"""Which private variables and arrays (allocas) a pointer may point into, and which are out of sight.

A pointer derives from an alloca through address arithmetic, casts, phis and selects. An alloca escapes when its
address goes where that can't be followed: into memory, into an integer, or into a function that is not known to
use it only during the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coarsen.analysis.builtins import Effect, effect_of
from coarsen.analysis.uses import Use, uses_of_values
from coarsen.ir.kernel import Instruction, Kernel, Value

_DERIVING = frozenset({"getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"})
_READING = frozenset({"load", "icmp"})
_CONTAINED = frozenset({Effect.WRITES_ARGUMENT, Effect.READS, Effect.PER_ITEM, Effect.GROUP_WIDE, Effect.IGNORED})


class PrivateMemory:
    """The allocas of a kernel and what may point into them."""

    def __init__(self, kernel: Kernel) -> None:
        uses = uses_of_values(kernel)
        self.allocas = tuple(i.name for i in kernel.instructions() if i.opcode == "alloca")
        bases: dict[str, set[str]] = {}
        escaping: set[str] = set()
        for alloca in self.allocas:
            for pointer in _derived(alloca, uses):
                bases.setdefault(pointer, set()).add(alloca)
                if any(_escapes(pointer, use.instruction) for use in uses.get(pointer, [])):
                    escaping.add(alloca)
        self._bases: Mapping[str, set[str]] = bases
        self.escaping = frozenset(escaping)

    def bases(self, pointer: Value) -> frozenset[str]:
        """The allocas that a pointer may point into; none for one that leads elsewhere."""
        return frozenset(self._bases.get(pointer.text, ())) if pointer.is_local else frozenset()

    def written_by(self, instruction: Instruction) -> frozenset[str]:
        """The allocas that an instruction may store to."""
        if instruction.opcode == "store":
            return self.bases(instruction.operands[1])
        if instruction.opcode in ("atomicrmw", "cmpxchg"):
            return self.bases(instruction.operands[0])
        if instruction.opcode != "call" or effect_of(instruction) in (Effect.PURE, Effect.READS):
            return frozenset()
        arguments = instruction.arguments
        if instruction.callee.startswith("llvm.mem"):
            arguments = arguments[:1]
        return frozenset().union(*(self.bases(argument) for argument in arguments))


def _derived(alloca: str, uses: Mapping[str, list[Use]]) -> Iterator[str]:
    """All pointers that may point into an alloca, itself first."""
    found = {alloca}
    pending = [alloca]
    while pending:
        pointer = pending.pop()
        yield pointer
        for use in uses.get(pointer, []):
            name = use.instruction.name
            if use.instruction.opcode in _DERIVING and name not in found:
                found.add(name)
                pending.append(name)


def _escapes(pointer: str, instruction: Instruction) -> bool:
    if instruction.opcode in _DERIVING or instruction.opcode in _READING:
        return False
    if instruction.opcode == "store":
        return instruction.operands[0].text == pointer
    if instruction.opcode in ("atomicrmw", "cmpxchg"):
        return any(operand.text == pointer for operand in instruction.operands[1:])
    if instruction.opcode == "call":
        return effect_of(instruction) not in _CONTAINED or str(instruction.type).startswith("ptr")
    return True
