"""The parts of memory of a kernel whose arguments point to distinct memory: one for each argument and variable.

    store float %x, %c[%i]           changes what loads through %c read, and no load through %a
    barrier()                        changes whatever is written: not %a, through which nobody writes

What the kernel writes through no argument is not written while it runs, by other work-items neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.distinct_arguments import distinct_arguments
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Named


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
