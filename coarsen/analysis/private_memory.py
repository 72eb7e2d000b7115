"""Which memory of its own a replica may reach through a pointer, and which is out of sight.

Such memory is a private variable or array (an alloca) and, where whole work-groups are merged, local memory. A
pointer derives from it through address arithmetic, casts, phis and selects. It escapes when its address goes where
that can't be followed: into memory, into an integer, or into a function that is not known to use it only during
the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from coarsen.analysis.memory_effects import DERIVING, EffectsOfKernel
from coarsen.analysis.uses import Use, names_in, uses_of_values
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.types import AddressSpace, PointerType


class PrivateMemory:
    """The allocas of a kernel, further memory like them, and what may point into them.

    Args:
        kernel: in normal form.
        further: the names of local memory that belongs to a replica: arguments, and variables with their `@`.
        effects: the judge of the kernel's instructions, if there is one already.
        uses: of the kernel's values, if they are known already.
    """

    def __init__(
        self,
        kernel: Kernel,
        further: Iterable[str] = (),
        effects: EffectsOfKernel | None = None,
        uses: Mapping[str, Sequence[Use]] | None = None,
    ) -> None:
        uses = uses_of_values(kernel) if uses is None else uses
        self._effects = effects or EffectsOfKernel.of_kernel(kernel)
        self.allocas = tuple(i.name for i in kernel.instructions() if i.opcode == "alloca")
        bases: dict[str, set[str]] = {}
        escaping: set[str] = set()
        for memory in (*self.allocas, *further):
            for pointer in _derived(memory, uses):
                bases.setdefault(pointer, set()).add(memory)
                if any(self._effects.may_keep(pointer, use.instruction) for use in uses.get(pointer, [])):
                    escaping.add(memory)
        self._bases: Mapping[str, set[str]] = bases
        self.escaping = frozenset(escaping)

    def bases(self, pointer: Value) -> frozenset[str]:
        """Return the memory that a pointer may point into; none for one that leads elsewhere."""
        return frozenset().union(*(self._bases.get(name, ()) for name in names_in(pointer)))

    def written_by(self, instruction: Instruction) -> frozenset[str]:
        """Return the memory that an instruction may store to."""
        effects = self._effects.of(instruction)
        if not effects.writes and not effects.writes_anything:
            return frozenset()
        reached = instruction.arguments if effects.writes_anything else effects.writes
        names = frozenset().union(*(self.bases(pointer) for pointer in reached))
        return names | self.escaping if effects.writes_anything else names


def local_memory(kernel: Kernel) -> tuple[str, ...]:
    """Return a work-group's local memory: arguments that point to it, program-scope variables with their `@`."""
    dynamic = (a.name for a in kernel.arguments if a.type == PointerType(AddressSpace.LOCAL))
    static = (v.name for v in kernel.globals.values() if v.address_space == AddressSpace.LOCAL)
    return (*dynamic, *(f"@{name}" for name in static))


def _derived(memory: str, uses: Mapping[str, Sequence[Use]]) -> Iterator[str]:
    """All pointers that may point into some memory, itself first."""
    found = {memory}
    pending = [memory]
    while pending:
        pointer = pending.pop()
        yield pointer
        for use in uses.get(pointer, []):
            name = use.instruction.name
            if use.instruction.opcode in DERIVING and name not in found:
                found.add(name)
                pending.append(name)
