"""Which memory an instruction may read or write, and which of it may be the same.

Two places are never the same memory when

- their address spaces are different ones, neither of them the generic one;
- they lie in two variables, or in a variable and in what an argument points to;
- they are reached through two arguments that the launch gives local memory, each its own;
- they are reached through two arguments of which one is `restrict` (`noalias`). The compiler may then take it that
  what one of them writes is not accessed through the other; what both only read is no conflict anyway.

Constant memory is not written while a kernel runs. Anything else may be the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Argument, Instruction, Kernel, Value
from coarsen.ir.types import AddressSpace, PointerType

# The spaces whose variables no argument points into.
_OF_THE_KERNEL = frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class Place:
    """Memory that a pointer leads to. `root` is the variable or argument it is in, None if that isn't known."""

    space: int
    root: Value | None


@dataclass(frozen=True, slots=True)
class ReadWriteSets:
    """The memory that an instruction may touch: places, or all there is."""

    reads: tuple[Place, ...] = ()
    writes: tuple[Place, ...] = ()
    everything: bool = False


_EVERYTHING = ReadWriteSets(everything=True)
_ALL_PLACES = tuple(Place(space, None) for space in range(AddressSpace.GENERIC + 1))


class Aliasing:
    """Answers for one kernel in normal form."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._arguments: Mapping[str, Argument] = {argument.name: argument for argument in kernel.arguments}
        self._effects = EffectsOfKernel.of_kernel(kernel)

    def place(self, pointer: Value) -> Place:
        """Return where a pointer leads."""
        space = pointer.type.address_space if isinstance(pointer.type, PointerType) else AddressSpace.GENERIC
        return Place(space, self._root(pointer))

    def may_be_same(self, first: Place, second: Place) -> bool:
        """Return True if two places may share a byte that one of them writes."""
        if first.space != second.space:
            spaces = {first.space, second.space}
            return AddressSpace.GENERIC in spaces and AddressSpace.CONSTANT not in spaces
        if first.root is None or second.root is None or first.root == second.root:
            return True
        if first.root.kind is ValueKind.ARGUMENT and second.root.kind is ValueKind.ARGUMENT:
            is_own = first.space == AddressSpace.LOCAL
            return not (is_own or self._is_restrict(first.root) or self._is_restrict(second.root))
        return first.space not in _OF_THE_KERNEL

    def read_write_sets(self, instruction: Instruction) -> ReadWriteSets:
        """Return what an instruction may touch: everything if it orders memory, or may write anywhere."""
        effects = self._effects.of(instruction)
        if effects.orders or effects.writes_anything:
            return _EVERYTHING
        reads = _ALL_PLACES if effects.reads_anything else tuple(map(self.place, effects.reads))
        return ReadWriteSets(reads, tuple(map(self.place, effects.writes)))

    def _is_restrict(self, argument: Value) -> bool:
        return "noalias" in self._arguments[argument.text].attributes.split()

    def _root(self, pointer: Value) -> Value | None:
        while pointer.kind is ValueKind.INSTRUCTION:
            definition = self._kernel.definition[pointer.text]
            if definition.opcode == "alloca":
                return pointer
            if definition.opcode != "getelementptr":
                return None
            pointer = definition.operands[0]
        return pointer if pointer.kind in (ValueKind.ARGUMENT, ValueKind.GLOBAL) else None
