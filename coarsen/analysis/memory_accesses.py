"""Which instructions access memory, through which pointer, how much of it, and which memory may be the same.

Loads and stores, LLVM's atomics, and of OpenCL's builtins `vload`, `vstore`, their versions for half, and atomics.
Copies of whole blocks (`memcpy`, asynchronous copies) and images are no accesses in this sense.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from coarsen.analysis.control_flow import reached
from coarsen.analysis.liveness import names_in
from coarsen.analysis.memory_effects import DERIVING, EffectsOfKernel
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.builtins import Reach, builtin_of
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace, PointerType, Type, VectorType, content_bytes

_VECTOR_BUILTIN = re.compile(r"v(?P<way>load|store)(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)(?:_r\w\w)?$")
_HALF_BYTES = 2
# What an aligned vector of three is spaced like.
_ALIGNED_THREE = 4


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """An access: at `pointer`, or `index` times `index_bytes` behind it where a builtin takes an index.

    `element_bytes` is the size of a scalar or of a vector's component, `width` the number of components.
    """

    pointer: Operand
    element_bytes: int
    width: int
    is_load: bool
    is_store: bool
    is_atomic: bool = False
    index: Operand | None = None
    index_bytes: int = 0


def memory_access(instruction: Instruction) -> MemoryAccess | None:
    """Return the access that an instruction makes, or None."""
    if instruction.opcode == "load":
        size, width = _parts(instruction.type)
        return MemoryAccess(instruction.operands[0], size, width, True, False, instruction.is_atomic)
    if instruction.opcode == "store":
        size, width = _parts(instruction.operands[0].type)
        return MemoryAccess(instruction.operands[1], size, width, False, True, instruction.is_atomic)
    if instruction.opcode in ("atomicrmw", "cmpxchg"):
        size, width = _parts(instruction.operands[1].type)
        return MemoryAccess(instruction.operands[0], size, width, True, True, True)
    return _access_of_builtin(instruction) if instruction.opcode == "call" else None


def _access_of_builtin(call: Instruction) -> MemoryAccess | None:
    name = builtin_name(call.callee)
    known = builtin_of(call)
    match = _VECTOR_BUILTIN.match(name)
    if match is not None and known.is_known:
        return _vector_access(call, match)
    if not known.is_atomic or not isinstance(call.arguments[0].type, PointerType):
        return None
    values = [argument.type for argument in call.arguments[1:2]]
    size, width = _parts(call.type) if content_bytes(call.type) > 1 or not values else _parts(values[0])
    is_load, is_store = known.reads is not Reach.NOTHING, known.writes is not Reach.NOTHING
    return MemoryAccess(call.arguments[0], max(1, size), width, is_load, is_store, True)


def _vector_access(call: Instruction, match: re.Match[str]) -> MemoryAccess:
    """`vload4(index, pointer)` or `vstore4(value, index, pointer)`."""
    is_store = match["way"] == "store"
    size, width = _parts(call.arguments[0].type if is_store else call.type)
    size = _HALF_BYTES if match["half"] else size
    spacing = _ALIGNED_THREE if match["aligned"] and match["count"] == "3" else width
    index, pointer = call.arguments[is_store : is_store + 2]
    return MemoryAccess(pointer, size, width, not is_store, is_store, False, index, spacing * size)


def _parts(type_: Type) -> tuple[int, int]:
    """The size of a component in bytes, and how many there are."""
    if isinstance(type_, VectorType):
        return content_bytes(type_.element), type_.count
    return content_bytes(type_), 1


# Which memory of its own a replica may reach through a pointer, and which is out of sight.
#
# Such memory is a private variable or array (an alloca) and, where whole work-groups are merged, local memory. A
# pointer derives from it through address arithmetic, casts, phis and selects. It escapes when its address goes
# where that can't be followed: into memory, into an integer, or into a function that is not known to use it only
# during the call.


class PrivateMemory:
    """The allocas of a kernel, further memory like them, and what may point into them.

    Args:
        kernel: in normal form.
        further: the names of local memory that belongs to a replica: arguments, and variables with their `@`.
        effects: the judge of the kernel's instructions.
    """

    def __init__(self, kernel: Kernel, further: Iterable[str], effects: EffectsOfKernel) -> None:
        self._effects = effects
        self.allocas = tuple(i.name for i in kernel.instructions() if i.opcode == "alloca")
        bases: dict[str, set[str]] = {}
        escaping: set[str] = set()
        for memory in (*self.allocas, *further):
            for pointer in _derived(kernel, memory):
                bases.setdefault(pointer, set()).add(memory)
                if any(self._effects.may_keep(pointer, user) for user in kernel.users(pointer)):
                    escaping.add(memory)
        self._bases: Mapping[str, set[str]] = bases
        self.escaping = frozenset(escaping)

    def bases(self, pointer: Operand) -> frozenset[str]:
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


def _derived(kernel: Kernel, memory: str) -> set[str]:
    """All pointers that may point into some memory, with itself."""
    return {memory} | reached(
        [memory], lambda pointer: (user.name for user in kernel.users(pointer) if user.opcode in DERIVING)
    )


# Which memory an instruction may read or write, and which of it may be the same.
#
# Two places are never the same memory when
#
# - their address spaces are different ones, neither of them the generic one;
# - they lie in two variables, or in a variable and in what an argument points to;
# - they are reached through two arguments that the launch gives local memory, each its own;
# - they are reached through two arguments of which one is `restrict` (`noalias`). The compiler may then take it
#   that what one of them writes is not accessed through the other; what both only read is no conflict anyway.
#
# Constant memory is not written while a kernel runs. Anything else may be the same.

# The spaces whose variables no argument points into.
_OF_THE_KERNEL = frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class Place:
    """Memory that a pointer leads to. `root` is the variable or argument it is in, None if that isn't known."""

    space: int
    root: Operand | None


Touched = tuple[Place, bool]
"""A place, and whether it is loaded from, or stored to."""


class Aliasing:
    """Answers for one kernel in normal form."""

    def __init__(self, kernel: Kernel) -> None:
        self._arguments: Mapping[str, Argument] = {argument.name: argument for argument in kernel.arguments}
        self._effects = EffectsOfKernel.of_kernel(kernel)

    def place(self, pointer: Operand) -> Place:
        """Return where a pointer leads."""
        space = pointer.type.address_space if isinstance(pointer.type, PointerType) else AddressSpace.GENERIC
        return Place(space, root_of(pointer))

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

    def conflicting(self, instruction: Instruction, accesses: Iterable[Touched]) -> list[Touched]:
        """Return those of some accesses that must not move past an instruction.

        They are all of them if it orders memory, or may write anywhere.
        """
        effects = self._effects.of(instruction)
        if effects.orders or effects.writes_anything:
            return list(accesses)
        written, read = (list(map(self.place, pointers)) for pointers in (effects.writes, effects.reads))
        return [
            (place, is_load)
            for place, is_load in accesses
            if (effects.reads_anything and not is_load)
            or any(self.may_be_same(place, other) for other in (written if is_load else [*written, *read]))
        ]

    def _is_restrict(self, argument: Operand) -> bool:
        return "noalias" in self._arguments[argument.text].attributes.split()


def root_of(pointer: Operand, casts: Collection[str] = ()) -> Operand | None:
    """Return the argument, variable or alloca that a pointer leads into; None where that isn't known.

    Args:
        pointer: followed back through address arithmetic.
        casts: further opcodes to follow it through.
    """
    while isinstance(pointer, Instruction) and pointer.opcode != "alloca":
        if pointer.opcode != "getelementptr" and pointer.opcode not in casts:
            return None
        pointer = pointer.operands[0]
    return None if pointer.kind in (ValueKind.CONSTANT, ValueKind.FUNCTION) else pointer
