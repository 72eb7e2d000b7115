"""Accesses to shared memory: which instructions read what other work-items write, and the other way round."""

from __future__ import annotations

from functools import cached_property

from coarsen.analysis.memory_accesses import Aliasing, Place, root_of
from coarsen.analysis.memory_effects import FUNCTIONS, EffectsOfKernel
from coarsen.ir.graph.instruction import Instruction, atomic_operation
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import Role
from coarsen.ir.opencl.queries import builtin_name, query_of
from coarsen.ir.types import AddressSpace, PointerType

CASTS = frozenset({"addrspacecast", "bitcast", "freeze"})
_NOT_OF_OTHERS = (AddressSpace.PRIVATE, AddressSpace.CONSTANT)
_PREFIXES = ("atomic_fetch_", "atomic_", "atom_")
_SAME = {"exchange": "xchg", "flag_test_and_set": "xchg"}
# Deeper expressions are not looked into.
DEPTH = 100


class SharedMemory:
    """The accesses of a kernel's instructions to memory that work-items share.

    Args:
        kernel: in normal form.
        effects: of its instructions.
    """

    def __init__(self, kernel: Kernel, effects: EffectsOfKernel) -> None:
        self.kernel = kernel
        self.effects = effects
        # Of each value its key: a number for each way of computing one.
        self._keys: dict[str, object] = {}
        self._numbers: dict[tuple[str, str, tuple[object, ...]], int] = {}

    @cached_property
    def aliasing(self) -> Aliasing:
        """The judge of which places may be the same."""
        return Aliasing(self.kernel)

    def operation(self, instruction: Instruction) -> str:
        """Return what an atomic operation does: add, xchg, cmpxchg, load, …; empty for anything else.

        `compare_exchange` is one that finds through a pointer what it compares with.
        """
        if instruction.opcode in ("atomicrmw", "cmpxchg"):
            return atomic_operation(instruction) or "cmpxchg"
        if instruction.opcode != "call" or not self.effects.builtin(instruction).is_atomic:
            return ""
        name = builtin_name(instruction.callee).removesuffix("_explicit")
        prefix = next(prefix for prefix in _PREFIXES if name.startswith(prefix))
        name = name.removeprefix(prefix).removesuffix("_strong").removesuffix("_weak")
        return _SAME.get(name, name)

    def reads(self, instruction: Instruction) -> Operand | None:
        """Return the pointer through which an instruction, a plain load too, may see what other work-items do."""
        if instruction.opcode == "load" or self.operation(instruction):
            effects = self.effects.of(instruction)
            pointer = instruction.arguments[0] if effects.reads else None
        elif instruction.opcode == "call" and instruction.is_volatile:
            pointer = instruction.arguments[1]
        else:
            return None
        return pointer if pointer is not None and self.is_shared(pointer) else None

    def is_plain(self, instruction: Instruction) -> bool:
        """Return True for a load that is neither volatile nor atomic."""
        return instruction.opcode == "load" and not (instruction.is_volatile or instruction.is_atomic)

    def writes(self, instruction: Instruction) -> tuple[Operand, ...]:
        """Return the pointers through which an instruction may change memory."""
        return () if self.is_idle(instruction) else self.effects.of(instruction).writes

    def is_idle(self, instruction: Instruction) -> bool:
        """Return True for an atomic operation that leaves memory as it is: `atomic_add(p, 0)`."""
        operation, operands = self.operation(instruction), instruction.arguments
        if operation in ("add", "sub", "or", "xor"):
            return operands[1].number == 0
        return operation == "cmpxchg" and operands[1] == operands[2]

    def root(self, pointer: Operand) -> Operand | None:
        """Return the argument, variable or alloca that a pointer leads into; None where that isn't known."""
        return root_of(pointer, CASTS)

    def space(self, pointer: Operand) -> int:
        """Return the address space that a pointer leads into; a generic one's where its root isn't known."""
        type_ = (self.root(pointer) or pointer).type
        return type_.address_space if isinstance(type_, PointerType) else AddressSpace.GENERIC

    def place(self, pointer: Operand) -> Place:
        """Return the memory that a pointer leads into."""
        return Place(self.space(pointer), self.root(pointer))

    def may_change(self, instruction: Instruction, pointer: Operand) -> bool:
        """Return True if an instruction, no fence or barrier, may change the memory that a pointer leads into."""
        effects = self.effects.of(instruction)
        if effects.writes_anything:
            is_call = instruction.opcode == "call"
            return is_call and self.effects.builtin(instruction).role not in (Role.FENCE, Role.GROUP_WIDE)
        written = map(self.place, self.writes(instruction))
        return any(self.aliasing.may_be_same(self.place(pointer), each) for each in written)

    def leads_into(self, pointer: Operand, root: Operand | None) -> bool:
        """Return True if a pointer may lead into what another one's root is; other roots are taken to be apart."""
        own = self.root(pointer)
        if own is None or root is None:
            known = own or root
            return known is None or known.kind is not ValueKind.INSTRUCTION
        return (own.kind, own.text) == (root.kind, root.text)

    def key(self, value: Operand, depth: int = 0) -> object:
        """Return something that two values have in common if they are computed in the same way from the same."""
        if value.kind is not ValueKind.INSTRUCTION:
            return value.spelling
        if value.text not in self._keys:
            self._keys[value.text] = self._key(self.kernel.definition[value.text], depth)
        return self._keys[value.text]

    def _key(self, definition: Instruction, depth: int) -> object:
        is_address = definition.opcode == "getelementptr"
        is_start = is_address and all(index.number == 0 for index in definition.operands[1:])  # `&p[0]`
        if definition.opcode in CASTS or is_start:
            return self.key(definition.operands[0], depth + 1)
        if depth > DEPTH or not (definition.opcode in FUNCTIONS or query_of(definition) is not None):
            return f"%{definition.name}"
        parts = tuple([self.key(operand, depth + 1) for operand in definition.arguments])
        says = definition.callee or str(definition.detail)
        return self._numbers.setdefault((definition.opcode, says, parts), len(self._numbers))

    def is_shared(self, pointer: Operand) -> bool:
        """Return True if other work-items may write where a pointer leads."""
        root = self.root(pointer)
        if root is not None and root.kind is ValueKind.INSTRUCTION:
            return False
        return self.space(pointer) not in _NOT_OF_OTHERS
