"""Which memory of its own a replica may reach through a pointer, and which is out of sight.

Such memory is a private variable or array (an alloca) and, where whole work-groups are merged, local memory. A
pointer derives from it through address arithmetic, casts, phis and selects. It escapes when its address goes where
that can't be followed: into memory, into an integer, or into a function that is not known to use it only during
the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coarsen.analysis.builtins import Effect, effect_of
from coarsen.analysis.uses import Use, names_in, uses_of_values
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.types import AddressSpace, PointerType

_DERIVING = frozenset({"getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"})
_READING = frozenset({"load", "icmp"})
_CONTAINED = frozenset({Effect.WRITES_ARGUMENT, Effect.READS, Effect.PER_ITEM, Effect.GROUP_WIDE, Effect.IGNORED})


class PrivateMemory:
    """The allocas of a kernel, further memory like them, and what may point into them.

    `further` names local memory that belongs to a replica: arguments, and program-scope variables with their `@`.
    """

    def __init__(self, kernel: Kernel, further: Iterable[str] = ()) -> None:
        uses = uses_of_values(kernel)
        self.allocas = tuple(i.name for i in kernel.instructions() if i.opcode == "alloca")
        bases: dict[str, set[str]] = {}
        escaping: set[str] = set()
        for memory in (*self.allocas, *further):
            for pointer in _derived(memory, uses):
                bases.setdefault(pointer, set()).add(memory)
                if any(_escapes(pointer, use.instruction) for use in uses.get(pointer, [])):
                    escaping.add(memory)
        self._bases: Mapping[str, set[str]] = bases
        self.escaping = frozenset(escaping)

    def bases(self, pointer: Value) -> frozenset[str]:
        """The memory that a pointer may point into; none for one that leads elsewhere."""
        return frozenset().union(*(self._bases.get(name, ()) for name in names_in(pointer)))

    def written_by(self, instruction: Instruction) -> frozenset[str]:
        """The memory that an instruction may store to."""
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


def local_memory(kernel: Kernel) -> tuple[str, ...]:
    """The local memory of a work-group: arguments that point to it, and program-scope variables with their `@`."""
    dynamic = (a.name for a in kernel.arguments if a.type == PointerType(AddressSpace.LOCAL))
    static = (v.name for v in kernel.globals.values() if v.address_space == AddressSpace.LOCAL)
    return (*dynamic, *(f"@{name}" for name in static))


def _derived(memory: str, uses: Mapping[str, list[Use]]) -> Iterator[str]:
    """All pointers that may point into some memory, itself first."""
    found = {memory}
    pending = [memory]
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
        return pointer in names_in(instruction.operands[0])
    if instruction.opcode in ("atomicrmw", "cmpxchg"):
        return any(pointer in names_in(operand) for operand in instruction.operands[1:])
    if instruction.opcode == "call":
        return effect_of(instruction) not in _CONTAINED or str(instruction.type).startswith("ptr")
    return True
