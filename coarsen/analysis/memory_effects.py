"""What instructions do to memory: what they read and write, what they order, and which pointers they keep.

    load, vload4(i, p)               read what p points to
    store, fract(x, p), vstore4      write what p points to
    barrier(…), atomics, volatile    order: no access to memory moves past them
    get_global_id(0), arithmetic     do nothing

`ir/opencl/builtins.py` has the table of functions. One that it does not know is judged by its declaration, and may
do all of this where that says nothing. Whoever asks about effects asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from coarsen.analysis.liveness import names_in
from coarsen.ir.graph.details import BINARY, CASTS, COMPARISONS, Opcode, is_shown
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module, attributes_of_callees
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import Builtin, Reach, Role, builtin_named
from coarsen.ir.types import AddressSpace, PointerType

FUNCTIONS = frozenset({*BINARY, *COMPARISONS, *CASTS, Opcode.FNEG, Opcode.SELECT, Opcode.GETELEMENTPTR}) | {
    *(Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT, Opcode.SHUFFLEVECTOR, Opcode.EXTRACTVALUE, Opcode.INSERTVALUE)
}
"""The opcodes whose result depends on nothing but the operands."""
_WITHOUT_MEMORY = FUNCTIONS | {"phi", "alloca", "freeze", "br", "switch", "ret", "unreachable"}
DERIVING = frozenset({"getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"})
"""The opcodes that make a pointer of a pointer."""
_LOOKING = frozenset({"load", "icmp"})


@dataclass(frozen=True, slots=True)
class MemoryEffects:
    """What an instruction, or several, may do to memory.

    Attributes:
        reads: pointers to what is read, at any distance from them.
        writes: pointers to what is written, likewise.
        reads_anything: whether any other memory may be read.
        writes_anything: whether any other memory may be written.
        orders: whether accesses to memory must not be moved past it.
        is_counted: whether each execution shows: of atomics, volatile accesses, output.
    """

    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    reads_anything: bool = False
    writes_anything: bool = False
    orders: bool = False
    is_counted: bool = False

    @property
    def changes_memory(self) -> bool:
        """Return True if a load may give something else after it than before it."""
        return bool(self.writes) or self.writes_anything or self.orders

    def __or__(self, other: MemoryEffects) -> MemoryEffects:
        return MemoryEffects(
            self.reads + other.reads,
            self.writes + other.writes,
            self.reads_anything or other.reads_anything,
            self.writes_anything or other.writes_anything,
            self.orders or other.orders,
            self.is_counted or other.is_counted,
        )


NO_EFFECTS: MemoryEffects = MemoryEffects()
_ALL_EFFECTS: MemoryEffects = MemoryEffects((), (), True, True, True, True)
_FENCE: MemoryEffects = MemoryEffects((), (), True, True, True)


class EffectsOfKernel:
    """Judges the instructions of a module by what it says of its functions.

    Args:
        attributes: of each function that the module declares, in LLVM's words.
        kernel: the one whose instructions are judged, where these never change: each is judged once.
    """

    def __init__(self, attributes: Mapping[str, str], kernel: Kernel | None = None) -> None:
        self._attributes = attributes
        self._known = {each: self._judged(each) for each in kernel.instructions()} if kernel else {}

    @classmethod
    def of_module(cls, module: Module) -> Self:
        """Return the judge of the instructions of a module's functions."""
        return cls(attributes_of_callees(module))

    @classmethod
    def of_kernel(cls, kernel: Kernel) -> Self:
        """Return the judge of a kernel's instructions."""
        return cls(kernel.function_attributes, kernel)

    def builtin(self, call: Instruction) -> Builtin:
        """Return what is known of the function that a call calls."""
        callee = call.callee
        return builtin_named(callee, self._attributes.get(callee, ""))

    def of(self, instruction: Instruction) -> MemoryEffects:
        """Return what an instruction may do."""
        known = self._known.get(instruction)
        return self._judged(instruction) if known is None else known

    def _judged(self, instruction: Instruction) -> MemoryEffects:
        opcode = instruction.opcode
        if opcode in _WITHOUT_MEMORY:
            return NO_EFFECTS
        if opcode == "call":
            return self._of_call(instruction)
        if opcode == "load":
            shows = is_shown(instruction.detail)
            return MemoryEffects((instruction.operands[0],), (), False, False, shows, shows)
        if opcode == "store":
            shows = is_shown(instruction.detail)
            return MemoryEffects((), (instruction.operands[1],), False, False, shows, shows)
        if opcode == "fence":
            return _FENCE
        if opcode in ("atomicrmw", "cmpxchg"):
            place = (instruction.operands[0],)
            return MemoryEffects(place, place, orders=True, is_counted=True)
        return _ALL_EFFECTS

    def of_all(self, instructions: Iterable[Instruction]) -> MemoryEffects:
        """Return what several instructions, those of a block for example, may do together."""
        together: MemoryEffects = NO_EFFECTS
        for instruction in instructions:
            effects = self.of(instruction)
            if effects is not NO_EFFECTS:
                together |= effects
        return together

    def _of_call(self, call: Instruction) -> MemoryEffects:
        builtin, is_volatile = self.builtin(call), call.is_volatile
        reads, writes, orders = builtin.reads, builtin.writes, builtin.orders or is_volatile
        shows = is_volatile or builtin.role in (Role.PER_ITEM, Role.REFUSED)
        if reads is Reach.NOTHING and writes is Reach.NOTHING and not orders and not shows:
            return NO_EFFECTS
        is_everything = reads is Reach.EVERYTHING, writes is Reach.EVERYTHING
        return MemoryEffects(_reached(call, reads), _reached(call, writes), *is_everything, orders, shows)

    def may_change_memory(self, instruction: Instruction) -> bool:
        """Return True if a load may give something else after an instruction, whatever its operands are."""
        if instruction.opcode == "call" and self.builtin(instruction).writes is not Reach.NOTHING:
            return True
        return self.of(instruction).changes_memory

    def has_effect(self, instruction: Instruction) -> bool:
        """Return True if an instruction does more than compute a value: it keeps its place, and isn't repeated."""
        if instruction.opcode == "call" and self.builtin(instruction).role is Role.GROUP_WIDE:
            return True
        effects = self.of(instruction)
        return effects.changes_memory or effects.is_counted

    def is_ignored(self, instruction: Instruction) -> bool:
        """Return True for a call that does nothing at run time."""
        return instruction.opcode == "call" and self.builtin(instruction).role is Role.IGNORED

    def is_function_of_operands(self, instruction: Instruction) -> bool:
        """Return True if the result is the same wherever the operands are."""
        opcode = instruction.opcode
        if opcode != "call":
            return opcode in FUNCTIONS
        callee = instruction.callee
        attributes = self._attributes.get(callee, "")
        if "memory(none)" not in attributes:
            return False
        builtin = builtin_named(callee, attributes)
        if builtin.reads is not Reach.NOTHING or builtin.writes is not Reach.NOTHING:
            return False  # whether or not an operand is a pointer
        return builtin.role is not Role.IGNORED and self.of(instruction) is NO_EFFECTS

    def depends_on_memory(self, instruction: Instruction) -> bool:
        """Return True for a load, or a call that only computes a value, of memory that may change."""
        if instruction.opcode != "load" and self.has_effect(instruction):
            return False
        effects = self.of(instruction)
        return effects.reads_anything or any(
            pointer.type != PointerType(AddressSpace.CONSTANT) for pointer in effects.reads
        )

    def may_keep(self, pointer: str, instruction: Instruction) -> bool:
        """Return True if an instruction may put a pointer where it can't be followed.

        Such are memory, an integer, and functions that may still use it after the call.

        Args:
            pointer: a value's name, a variable's with its `@`.
            instruction: that has it as an operand.
        """
        opcode, operands = instruction.opcode, instruction.operands
        if opcode in DERIVING or opcode in _LOOKING:
            return False
        if opcode == "call":
            return self._call_may_keep(instruction)
        kept = {"store": operands[:1], "atomicrmw": operands[1:], "cmpxchg": operands[1:]}.get(opcode)
        return kept is None or any(pointer in names_in(operand) for operand in kept)

    def _call_may_keep(self, call: Instruction) -> bool:
        """Return True if a function may keep a pointer, or gives something that is computed from the address."""
        builtin = self.builtin(call)
        if builtin.role is Role.IGNORED:
            return False
        if "ptr" in str(call.type):
            return True
        if builtin.role is Role.VALUE:
            return builtin.reads is Reach.NOTHING and builtin.writes is Reach.NOTHING
        return builtin.role is not Role.GROUP_WIDE and not builtin.is_known


def _reached(call: Instruction, reach: Reach) -> tuple[Operand, ...]:
    """Return the pointers through which a call reaches memory."""
    if reach in (Reach.NOTHING, Reach.EVERYTHING):
        return ()
    if reach is Reach.ARGUMENTS:
        return tuple(argument for argument in call.arguments if isinstance(argument.type, PointerType))
    return tuple(call.arguments[:1] if reach is Reach.FIRST else call.arguments[1:2])
