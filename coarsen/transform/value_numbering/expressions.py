"""Keys of instructions: two with equal keys compute the same, wherever both stand.

    %i = load float, ptr addrspace(1) %p        (load, no flags, plain and aligned to 4, float, %p, memory's state)
    %z = icmp slt i32 %x, 1                     (icmp, no flags, slt, i1, %x, 1)

Operands are compared by identity, constants by what they say.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from coarsen.analysis.control_flow import FlowGraph
from coarsen.analysis.distinct_arguments import distinct_arguments
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.details import CallSite, Detail, Opcode, is_shown
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.types import Type

Key = tuple[Hashable, ...]
# Hints for an optimiser, which have nothing to do with the result.
_TAILS = ("tail", "notail")
_NOT_UNDEFINED = "noundef"


class Expressions:
    """Finds the keys of a function's instructions, which stay as they are meanwhile.

    Args:
        effects: the judge of the instructions.
    """

    def __init__(self, effects: EffectsOfKernel) -> None:
        self._effects = effects
        self._numbers: dict[Hashable, int] = {}
        # By identity, which the instructions keep: copies have the details and types of their originals.
        self._number_of: dict[int, int] = {}

    def key(self, instruction: Instruction, operands: Sequence[Operand], memory: int) -> Key | None:
        """Return an instruction's key; None where two that look alike may differ in value.

        Args:
            instruction: with a result.
            operands: what now stands for its operands.
            memory: the state of memory where it stands (`MemoryOrder`).
        """
        opcode = instruction.opcode
        if opcode is Opcode.LOAD:
            return None if is_shown(instruction.detail) else (*self._shape(instruction), *operands, memory)
        if opcode is Opcode.PHI:
            return (*self._shape(instruction), *operands, *instruction.blocks, instruction.block)
        if self._effects.is_function_of_operands(instruction):
            return (*self._shape(instruction), *operands)
        return None

    def _shape(self, instruction: Instruction) -> Key:
        """The part of a key that is not the operands."""
        numbers, detail, type_ = self._number_of, instruction.detail, instruction.type
        said, kind = numbers.get(id(detail)), numbers.get(id(type_))
        if said is None or kind is None:
            said, kind = self._number(detail), self._number(type_)
        return (instruction.opcode, instruction.flags, said, kind, instruction.attachments)

    def _number(self, said: Detail | Type) -> int:
        """A number for a detail or a type: keys are looked up more than once, and to hash those takes long."""
        number = self._number_of.get(id(said))
        if number is None:
            meant = _site(said) if isinstance(said, CallSite) else said
            number = self._number_of[id(said)] = self._numbers.setdefault(meant, len(self._numbers))
        return number


def _site(site: CallSite) -> Hashable:
    """The part that is a call's alone, without hints and the number of its group of attributes."""
    of_arguments = tuple(map(_significant, site.argument_attributes))
    return (
        "" if site.tail in _TAILS else site.tail,
        site.convention,
        _significant(site.result_attributes),
        site.signature,
        of_arguments if any(of_arguments) else (),
        _significant(site.attributes),
        site.bundles,
    )


def _significant(attributes: str) -> tuple[str, ...]:
    return tuple(word for word in attributes.split() if word != _NOT_UNDEFINED and not word.startswith("#"))


# Values that may stand for later ones, found by what they compute.

# Of those with one key, the last ones are looked at, so that a kernel of many blocks takes no longer for each.
_MAXIMUM_LEADERS = 8


class Leader(NamedTuple):
    """A value that may stand for later ones: its block's name, and whether overflow makes it poison."""

    value: Instruction
    block: str
    may_be_poison: bool = False


class Leaders:
    """The leaders under each key, in the order in which they were met."""

    def __init__(self, flow: FlowGraph, defined: SurelyDefined) -> None:
        self._flow = flow
        self._defined = defined
        self._leaders: dict[Key, list[Leader]] = {}

    def find(self, key: Key, block: str) -> Instruction | None:
        """Return the value that is known under a key and that may be used in a block."""
        for leader in self._usable(key, block):
            if not leader.may_be_poison or self._defined.is_defined(leader.value, block):
                return leader.value
        return None

    def find_all(self, key: Key, block: str) -> list[Instruction]:
        """Return the values under a key that may be used in a block, whether or not they may be poison."""
        return [leader.value for leader in self._usable(key, block)]

    def _usable(self, key: Key, block: str) -> Iterator[Leader]:
        last = self._leaders.get(key, ())[-_MAXIMUM_LEADERS:]
        return (leader for leader in last if self._flow.may_use(block, leader.block))

    def follow(self, key: Key, value: Instruction, block: str, may_be_poison: bool = False) -> None:
        """Let a value of a block be found under a key."""
        self._leaders.setdefault(key, []).append(Leader(value, block, may_be_poison))


# Values that are no poison in a block, since the kernel's behaviour is undefined if they are.
#
#     %index = add nsw i32 %row, %x       poison where it overflows, and with it
#     %i = sext i32 %index to i64
#     %p = getelementptr float, ptr addrspace(1) %input, i64 %i
#     %v = load float, ptr addrspace(1) %p        this address: loading from it is undefined
#
# So in this block, and in those that it dominates, `%index` may stand for any value with the same sum.

# The operand that is the address.
_ADDRESS = {Opcode.LOAD: 0, Opcode.STORE: 1}
# What gives poison for poison. A choice need not, and `freeze` does not.
_PASSES_ON = frozenset(
    {
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.LSHR, Opcode.ASHR),
        *(Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT),
        *(Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST),
    }
)
# Of a value that many blocks use, the first ones: they dominate the others if any do.
_MAXIMUM_BLOCKS = 8


class SurelyDefined:
    """The values that are surely defined in the blocks of a function, found when first asked for.

    Args:
        blocks: by their names.
        effects: the judge of their instructions.
        flow: of the blocks.
    """

    def __init__(self, blocks: Mapping[str, Block], effects: EffectsOfKernel, flow: FlowGraph) -> None:
        self._by_name = blocks
        self._effects = effects
        self._flow = flow

    def is_defined(self, value: Operand, block: str) -> bool:
        """Return whether poison for the value makes behaviour undefined on every way to or through a block."""
        return self._dominates_any(self._blocks.get(value, []), block)

    @cached_property
    def _blocks(self) -> Mapping[Operand, list[str]]:
        """The first blocks in which each value is surely defined."""
        found: dict[Operand, list[str]] = {}
        for name in self._flow.reverse_postorder:
            pending = self._addresses(self._by_name[name])
            while pending:
                value = pending.pop()
                blocks = found.setdefault(value, [])
                # What is known already is so of the operands as well.
                if len(blocks) == _MAXIMUM_BLOCKS or self._dominates_any(blocks, name):
                    continue
                blocks.append(name)
                pending.extend(_computed(value.operands) if value.opcode in _PASSES_ON else ())
        return found

    def _dominates_any(self, blocks: list[str], block: str) -> bool:
        return any(self._flow.dominates(using, block) for using in blocks)

    def _addresses(self, block: Block) -> list[Instruction]:
        """The addresses from which a block loads and to which it stores; none where the block may end before."""
        calls = (each for each in block.instructions if each.opcode is Opcode.CALL)
        if any(map(self._effects.may_change_memory, calls)):
            return []
        accesses = (each for each in block.instructions if each.opcode in _ADDRESS)
        return _computed(access.operands[_ADDRESS[access.opcode]] for access in accesses)


def _computed(operands: Iterable[Operand]) -> list[Instruction]:
    return [operand for operand in operands if isinstance(operand, Instruction)]


# The states of memory: a number for each stretch of instructions in which no load can tell a difference.

_NEVER_CHANGED = -1


class MemoryOrder:
    """Follows memory through the blocks of a function, each visited after those that dominate it.

    No load moves past a store, an atomic operation, a fence or a barrier, unless these are known to be to other
    parts of memory.

    Args:
        effects: the judge of the function's instructions.
        flow: the function's.
        parts: which memory instructions access, where that tells them apart; None for memory as a whole.
    """

    def __init__(self, effects: EffectsOfKernel, flow: FlowGraph, parts: MemoryParts | None = None) -> None:
        self._effects = effects
        self._flow = flow
        self._parts = parts
        self._last = 0
        self._now = _State()
        self._at_end: dict[str, _State] = {}

    def enter(self, block: str) -> None:
        """Go to the start of a block: where it is reached one way only, memory is as it was there."""
        predecessors = self._flow.predecessors(block)
        known = self._at_end.get(predecessors[0]) if len(predecessors) == 1 else None
        self._now = self._changed(None) if known is None else known

    def execute(self, instruction: Instruction) -> None:
        """Go past the next instruction of the block."""
        if self._effects.may_change_memory(instruction):
            self._now = self._changed(None if self._parts is None else self._parts.written(instruction))

    def leave(self, block: str) -> None:
        """Remember the state at the end of a block."""
        self._at_end[block] = self._now

    def state(self, instruction: Instruction) -> int:
        """Return the number of the state of the memory that a load reads; that of all memory for anything else."""
        if self._parts is None or instruction.opcode is not Opcode.LOAD:
            return self._now.last
        if self._parts.is_never_written(instruction):
            return _NEVER_CHANGED
        return self._now.of(self._parts.roots.of(instruction.operands[0]))

    def _changed(self, parts: Roots | None) -> _State:
        """Return the state after a change of some parts of memory; None for all."""
        self._last += 1
        if parts is None:
            return _State(self._last, self._last)
        return _State(self._last, self._now.all_changed, {**self._now.changed, **dict.fromkeys(parts, self._last)})


@dataclass(frozen=True, slots=True)
class _State:
    """When memory last changed: any of it, all of it, and each part since then."""

    last: int = 0
    all_changed: int = 0
    changed: Mapping[Named, int] = field(default_factory=dict)

    def of(self, parts: Roots | None) -> int:
        """Return when one of some parts last changed; None for parts that aren't known."""
        if parts is None:
            return self.last
        return max((self.all_changed, *(self.changed.get(part, 0) for part in parts)))


# The parts of memory of a kernel whose arguments point to distinct memory: one for each argument and variable.
#
#     store float %x, %c[%i]           changes what loads through %c read, and no load through %a
#     barrier()                        changes whatever is written: not %a, through which nobody writes
#
# What the kernel writes through no argument is not written while it runs, by other work-items neither.


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

    def is_never_written(self, load: Instruction) -> bool:
        """Return True if a load reads what nothing writes while the kernel runs."""
        roots = self.roots.of(load.operands[0])
        return roots is not None and roots <= self.read_only
