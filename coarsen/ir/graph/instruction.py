"""Instructions and blocks: typed fields, operands that are objects, and the uses that go with them.

Whoever changes an operand or an edge does so through the methods here: they keep the uses right, and refuse in a
function that is sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol, TypeVar

from coarsen.errors import InternalError, SourcePosition
from coarsen.ir.graph.details import (
    Access,
    Allocation,
    AtomicUpdate,
    CallSite,
    Comparison,
    Detail,
    ElementAddress,
    Indices,
    Mask,
    Opcode,
    access_of,
)
from coarsen.ir.graph.operands import Callee, Named, Operand, Use, ValueKind
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.types import LabelType, Type

_LABEL = LabelType()
# As `Use` itself makes one, without a function of Python's in between: there is one for nearly each operand.
_use = partial(tuple.__new__, Use)

Attachment = tuple[str, str]
"""Metadata on an instruction: its kind, such as tbaa, and the node, such as `!12`."""


class Instruction(Named):
    """One instruction.

    Attributes:
        opcode: which it is.
        type: of the result; void where there is none.
        name: of the result; empty where there is none.
        flags: such as nsw or inbounds, in LLVM's order.
        detail: what else it says, by its family.
        attachments: its metadata, without debug locations.
        origin: where it comes from.
        block: in which it stands; None for one that stands nowhere yet, or no more.
    """

    __slots__ = ("_blocks", "_operands", "attachments", "block", "detail", "flags", "opcode", "origin")
    kind = ValueKind.INSTRUCTION
    _operands: list[Operand]
    _blocks: list[Block]

    def __init__(
        self,
        opcode: Opcode,
        type_: Type,
        operands: Iterable[Operand] = (),
        name: str = "",
        *,
        blocks: Iterable[Block] = (),
        flags: tuple[str, ...] = (),
        detail: Detail = None,
        attachments: tuple[Attachment, ...] = (),
        origin: Origin = UNKNOWN,
    ) -> None:
        super().__init__(type_, name)
        self.opcode = opcode
        self.flags = flags
        self.detail = detail
        self.attachments = attachments
        self.origin = origin
        self.block: Block | None = None
        self._operands, self._blocks = [], []
        if operands or blocks:
            self._take(operands, blocks)

    # Reading.

    @property
    def operands(self) -> Sequence[Operand]:
        """The values it computes with; a call's callee is the last."""
        return self._operands

    @property
    def blocks(self) -> Sequence[Block]:
        """A phi's sources, in the order of its operands; a terminator's targets, in LLVM's textual order."""
        return self._blocks

    @property
    def arguments(self) -> Sequence[Operand]:
        """The operands that carry data: a call's without its callee, and without those in bundles."""
        if self.opcode is not Opcode.CALL:
            return self._operands
        bundled = self.detail.bundled if isinstance(self.detail, CallSite) else 0
        return self._operands[: -1 - bundled]

    @property
    def callee(self) -> str:
        """The called function's name; empty for any other instruction and for an indirect call."""
        if self.opcode is Opcode.CALL and isinstance(self._operands[-1], Callee):
            return self._operands[-1].name
        return ""

    @property
    def is_volatile(self) -> bool:
        """Return True if it is a load, a store, an atomic or a copy of memory that is volatile."""
        if self.opcode is Opcode.CALL:
            return "llvm.mem" in self.callee and self.arguments[-1].text == "true"
        access = access_of(self.detail)
        return access is not None and access.is_volatile

    @property
    def is_atomic(self) -> bool:
        """Return True if it is an atomic load, store, update or exchange of LLVM's own (not a builtin's call)."""
        detail = self.detail
        is_ordered = isinstance(detail, Access) and self.opcode is not Opcode.FENCE and bool(detail.ordering)
        return is_ordered or isinstance(detail, AtomicUpdate)

    @property
    def incoming(self) -> tuple[str, ...]:
        """The names of a phi's sources."""
        return tuple(block.name for block in self._blocks) if self.opcode is Opcode.PHI else ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of a terminator's targets."""
        return () if self.opcode is Opcode.PHI else tuple(block.name for block in self._blocks)

    @property
    def position(self) -> SourcePosition | None:
        """Return where it stands in the source."""
        return self.origin.position

    @property
    def call_position(self) -> SourcePosition | None:
        """Return where `position` is in an inlined function, the kernel's call of it."""
        return self.origin.call_position

    def edges(self) -> Iterator[tuple[Operand, Block]]:
        """Yield a phi's values, each with the block from which it comes."""
        yield from zip(self._operands, self._blocks, strict=True)

    # Changing.

    def set_operand(self, index: int, operand: Operand) -> None:
        """Put another value in an operand's place. Raises InternalError in a sealed function."""
        self._check_owned()
        for named in self._operands[index].referenced():
            named.uses.pop(_use((self, index, False)), None)
        self._operands[index] = operand
        self._note(index, operand)

    def set_block(self, index: int, block: Block) -> None:
        """Put another source or target in one's place. Raises InternalError in a sealed function."""
        self._check_owned()
        use = _use((self, index, True))
        self._blocks[index].uses.pop(use, None)
        self._blocks[index] = block
        block.uses[use] = None

    def set_operands(self, operands: Iterable[Operand], blocks: Iterable[Block] = ()) -> None:
        """Give it other operands and blocks. Raises InternalError in a sealed function."""
        if self._operands or self._blocks:
            self.drop_references()
        else:
            self._check_owned()
        self._take(operands, blocks)

    def add_incoming(self, value: Operand, block: Block) -> None:
        """Let a phi take a value when it is reached from a block. Raises InternalError in a sealed function."""
        self._check_owned()
        self._note(len(self._operands), value)
        self._operands.append(value)
        block.uses[_use((self, len(self._blocks), True))] = None
        self._blocks.append(block)

    def remove_incoming(self, block: Block) -> None:
        """Forget what a phi takes from a block. Raises InternalError in a sealed function."""
        kept = [(value, source) for value, source in self.edges() if source is not block]
        self.drop_references()
        for value, source in kept:
            self.add_incoming(value, source)

    def drop_references(self) -> None:
        """Forget all operands and blocks. Raises InternalError in a sealed function."""
        self._check_owned()
        for index, operand in enumerate(self._operands):
            for named in operand.referenced():
                named.uses.pop(_use((self, index, False)), None)
        for index, block in enumerate(self._blocks):
            block.uses.pop(_use((self, index, True)), None)
        self._operands, self._blocks = [], []

    def erase(self) -> None:
        """Leave the block for good. Raises InternalError if something uses it."""
        assert self.block is not None
        self.block.erase(self)

    def _check_owned(self) -> None:
        if self.block is not None:
            self.block.check_owned()

    def _take(self, operands: Iterable[Operand], blocks: Iterable[Block]) -> None:
        """Take operands and blocks, where there are none."""
        self._operands = [*operands]
        for index, operand in enumerate(self._operands):
            if isinstance(operand, Named):  # as most are
                operand.uses[_use((self, index, False))] = None
            else:
                self._note(index, operand)
        if blocks:
            self._blocks = [*blocks]
            for index, block in enumerate(self._blocks):
                block.uses[_use((self, index, True))] = None

    def _note(self, index: int, operand: Operand) -> None:
        for named in operand.referenced():
            named.uses[_use((self, index, False))] = None


def users(named: Named) -> list[Instruction]:
    """Return the instructions that use something, each once, in the order in which the uses came about."""
    found = dict.fromkeys(use.user for use in named.uses)
    return [user for user in found if isinstance(user, Instruction)]


class Holder(Protocol):
    """What has blocks: a function (`function.py`)."""

    name: str

    def add_after(self, place: Block, block: Block) -> Block:
        """Put a block that stands nowhere after another one, and give it back."""
        ...

    def check_owned(self) -> None:
        """Raise InternalError if it is sealed."""
        ...


class Block(Named):
    """A basic block; its last instruction is the terminator, once it is whole.

    Attributes:
        origin: where it comes from, and what it is for.
        function: in which it stands; None for one that stands nowhere yet, or no more.
    """

    __slots__ = ("_instructions", "function", "origin")
    kind = ValueKind.BLOCK

    def __init__(self, name: str, origin: Origin = UNKNOWN) -> None:
        super().__init__(_LABEL, name)
        self.origin = origin
        self.function: Holder | None = None
        self._instructions: list[Instruction] = []

    @property
    def instructions(self) -> Sequence[Instruction]:
        """The instructions in order."""
        return self._instructions

    @property
    def terminator(self) -> Instruction:
        """The instruction that leaves the block."""
        return self._instructions[-1]

    @property
    def phis(self) -> tuple[Instruction, ...]:
        """The phi instructions, which stand first."""
        return tuple([instruction for instruction in self._instructions if instruction.opcode is Opcode.PHI])

    @property
    def predecessors(self) -> list[Block]:
        """The blocks that lead here, each once, in the order in which their branches came about."""
        branches = (user for user in users(self) if user.opcode is not Opcode.PHI)
        return list(dict.fromkeys(branch.block for branch in branches if branch.block is not None))

    def insert(self, index: int, instruction: Instruction) -> Instruction:
        """Put an instruction that stands nowhere before the one at an index, and give it back."""
        self._check_stands_nowhere(instruction)
        self._instructions.insert(index, instruction)
        instruction.block = self
        return instruction

    def append(self, instruction: Instruction) -> Instruction:
        """Put an instruction that stands nowhere at the end, and give it back."""
        if self.function is not None or instruction.block is not None:
            self._check_stands_nowhere(instruction)
        self._instructions.append(instruction)
        instruction.block = self
        return instruction

    def extend(self, instructions: Iterable[Instruction]) -> None:
        """Put instructions that stand nowhere at the end."""
        self.check_owned()
        for instruction in instructions:
            if instruction.block is not None:
                self._check_stands_nowhere(instruction)
            instruction.block = self
            self._instructions.append(instruction)

    def take_from(self, index: int) -> list[Instruction]:
        """Take out the instructions from an index on, with their operands, to put them elsewhere."""
        self.check_owned()
        taken = self._instructions[index:]
        del self._instructions[index:]
        for instruction in taken:
            instruction.block = None
        return taken

    def replace_as_source(self, other: Block) -> None:
        """Let the phis of the successors of `other`'s branch take from it what they take from this block."""
        for use in list(self.uses):
            phi = use.user
            if isinstance(phi, Instruction) and phi.opcode is Opcode.PHI and phi.block in other.terminator.blocks:
                phi.set_block(use.slot, other)

    def erase(self, instruction: Instruction) -> None:
        """Throw away an instruction. Raises InternalError if something uses it."""
        if instruction.uses:
            raise InternalError(f"'{instruction.name}' is used and can't be thrown away")
        instruction.drop_references()
        self._instructions.remove(instruction)
        instruction.block = None

    def replace_instructions(self, instructions: Sequence[Instruction]) -> None:
        """Put other instructions in the place of all: some of the block's own, and others that stand nowhere.

        What is left out is thrown away at once, which is linear where `erase` searches.
        """
        self.check_owned()
        kept = set(instructions)
        for left_out in self._instructions:
            if left_out not in kept:
                left_out.drop_references()
                left_out.block = None
        for instruction in instructions:
            instruction.block = self
        self._instructions = list(instructions)

    def _check_stands_nowhere(self, instruction: Instruction) -> None:
        self.check_owned()
        if instruction.block is not None:
            raise InternalError(f"'{instruction.name or instruction.opcode}' stands in a block already")

    def check_owned(self) -> None:
        """Raise InternalError if the block's function is sealed."""
        if self.function is not None:
            self.function.check_owned()


# Questions to what an instruction says beyond opcode, flags and operands, answered by its `detail`.

_Kind = TypeVar("_Kind")


def predicate(instruction: Instruction) -> str:
    """Return the condition of an `icmp` or `fcmp`, such as slt or oeq."""
    return detail_of(instruction, Comparison).predicate


def access(instruction: Instruction) -> Access | None:
    """Return how an instruction touches memory; None for one that does not, and for a call."""
    return access_of(instruction.detail)


def is_inline_assembly(call: Instruction) -> bool:
    """Return True for a call of assembly text instead of a function."""
    return call.operands[-1].kind is ValueKind.CONSTANT and call.operands[-1].text.startswith("asm ")


def alignment(instruction: Instruction) -> int:
    """Return the alignment in bytes of a load, a store or an `alloca`; 1 where none is written."""
    detail = instruction.detail
    return (detail.alignment if isinstance(detail, Access | Allocation) else 0) or 1


def source_element_type(instruction: Instruction) -> Type:
    """Return the type that a `getelementptr` steps over, or that an `alloca` reserves."""
    if isinstance(instruction.detail, Allocation):
        return instruction.detail.type
    return detail_of(instruction, ElementAddress).source_type


def shuffle_mask(instruction: Instruction) -> tuple[int | None, ...]:
    """Return the mask of a `shufflevector`, None for an element that may be anything."""
    return detail_of(instruction, Mask).elements


def aggregate_indices(instruction: Instruction) -> tuple[int, ...]:
    """Return the indices of an `extractvalue` or `insertvalue`."""
    return detail_of(instruction, Indices).indices


def atomic_operation(instruction: Instruction) -> str:
    """Return the operation of an `atomicrmw`: add, xchg, min, umax, …"""
    return detail_of(instruction, AtomicUpdate).operation


def argument_alignment(call: Instruction, index: int) -> int:
    """Return the alignment in bytes that a call states for a pointer among its arguments; 1 where it doesn't."""
    return detail_of(call, CallSite).argument_alignment(index)


def orderings(instruction: Instruction) -> frozenset[str]:
    """Return the orderings of an atomic instruction, where it succeeds and where it fails."""
    touched, detail = access(instruction), instruction.detail
    failure = detail.failure if isinstance(detail, AtomicUpdate) else ""
    return frozenset({touched.ordering if touched else "", failure} - {""})


def attached(instruction: Instruction, kind: str) -> str:
    """Return the node of an instruction's metadata of a kind, such as `!12`; empty where it has none."""
    for known, node in instruction.attachments:
        if known == kind:
            return node
    return ""


def detail_of(instruction: Instruction, kind: type[_Kind]) -> _Kind:
    """Return a detail of the kind that it has to be. Raises InternalError, with the instruction, if it isn't."""
    detail = instruction.detail
    if not isinstance(detail, kind):
        raise InternalError(f"'{instruction.name or instruction.opcode}' has no {kind.__name__}")
    return detail
