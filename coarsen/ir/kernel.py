"""The whole view of a kernel, on one screen: Kernel → Block → Instruction → Value.

It is the view of a graph (`graph/view.py`), which is read from what LLVM prints of a module (`reader.py`). Nothing
here changes: the graph is kept, sealed, and a transform edits a copy, which it owns (`Kernel.editable_graph`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from typing import Any

from coarsen.errors import SourcePosition
from coarsen.ir.added_arguments import AddedArgument as AddedArgument
from coarsen.ir.graph.details import CallSite, Detail, is_atomic, is_volatile
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import ValueKind as ValueKind
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.graph.rewriting import copy_module
from coarsen.ir.graph.stored import stored
from coarsen.ir.graph.variables import GlobalVariable as GlobalVariable
from coarsen.ir.types import StructType, Type, quoted


@dataclass(frozen=True, slots=True)
class Value:
    """An operand. `text` is a name without `%` or `@`, or a constant without its type.

    `mentioned` are the names of the program-scope variables and functions in a constant expression, such as
    `getelementptr (i8, ptr addrspace(3) @kernel.tile, i64 4)`.
    """

    kind: ValueKind
    type: Type
    text: str
    mentioned: tuple[str, ...] = field(default=(), compare=False)

    @property
    def number(self) -> int | None:
        """The number that an integer constant is, as LLVM prints it; None for anything else."""
        if self.kind is ValueKind.CONSTANT and self.text.removeprefix("-").isdecimal():
            return int(self.text)
        return None

    @property
    def spelling(self) -> str:
        """The operand as it stands in LLVM's text, without its type."""
        if self.kind is ValueKind.CONSTANT:
            return self.text
        return f"%{self.text}" if self.is_local else f"@{quoted(self.text)}"

    @property
    def is_local(self) -> bool:
        """Return True if it is computed or passed at run time (an instruction's result or an argument)."""
        return self.kind in (ValueKind.INSTRUCTION, ValueKind.ARGUMENT)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `name` is empty when there is no result; a call's callee is its last operand.

    `incoming` names a phi's blocks, in the order of its operands; `targets` names the blocks that a terminator may
    go to, in LLVM's textual order.
    `origin` says where it was written, and which transform made it for what.
    `flags`, such as nsw, stand in LLVM's order; `detail` has what else its family says; `attachments` are pairs of
    a kind of metadata, such as tbaa, and its node, such as `!12`.
    """

    name: str
    opcode: str
    type: Type
    operands: tuple[Value, ...]
    incoming: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    origin: Origin = UNKNOWN
    flags: tuple[str, ...] = ()
    detail: Detail = None
    attachments: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """LLVM's line without indentation and without debug information, written when it is asked for."""
        return instruction_text(self)

    @property
    def position(self) -> SourcePosition | None:
        """Return where it was written."""
        return self.origin.position

    @property
    def call_position(self) -> SourcePosition | None:
        """Return where `position` is in an inlined function, the kernel's call of it."""
        return self.origin.call_position

    @property
    def callee(self) -> str:
        """The called function's name; empty for any other instruction and for an indirect call."""
        if self.opcode == "call" and self.operands[-1].kind is ValueKind.FUNCTION:
            return self.operands[-1].text
        return ""

    @property
    def arguments(self) -> tuple[Value, ...]:
        """The operands that carry data: a call's without its bundles and its callee."""
        if self.opcode != "call":
            return self.operands
        bundled = self.detail.bundled if isinstance(self.detail, CallSite) else 0
        return self.operands[: -1 - bundled]

    @property
    def is_volatile(self) -> bool:
        """Return True if it is a load, a store, an atomic or a copy of memory that is volatile."""
        if self.opcode == "call":
            return "llvm.mem" in self.callee and self.arguments[-1].text == "true"
        return is_volatile(self.detail)

    @property
    def is_atomic(self) -> bool:
        """Return True if it is an atomic load, store, update or exchange of LLVM's own (not a builtin's call)."""
        return is_atomic(self.detail, self.opcode)


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block; its last instruction is the terminator."""

    name: str
    instructions: tuple[Instruction, ...]

    @property
    def terminator(self) -> Instruction:
        """The instruction that leaves the block."""
        return self.instructions[-1]

    @property
    def phis(self) -> tuple[Instruction, ...]:
        """The phi instructions, which stand first."""
        return tuple([instruction for instruction in self.instructions if instruction.opcode == "phi"])


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument: LLVM's name and type, and what OpenCL C declared (empty where not recorded)."""

    name: str
    type: Type
    attributes: str
    type_name: str = ""
    base_type_name: str = ""
    address_space: int = 0
    access: str = "none"
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenArgument:
    """A pointer argument through which a kernel may write.

    Attributes:
        kernel: whose argument it is.
        index: among the kernel's arguments.
        period: the bytes after which what is there has the same form.
        padding: the bytes of each period that no store gives a value, and which are no result.
    """

    kernel: str
    index: int
    period: int = 1
    padding: tuple[int, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """A kernel and the module around it. The first block is the entry.

    `graph` is the module of which this is the view; it is sealed, and printed where text is needed
    (`graph/printer.py`). `added_arguments` describes the last of the arguments, those that transforms have added;
    `function_attributes` has the attributes of each declared function.
    """

    name: str
    arguments: tuple[Argument, ...]
    blocks: tuple[Block, ...]
    globals: Mapping[str, GlobalVariable]
    graph: Module = field(compare=False, repr=False)
    required_work_group_size: tuple[int, int, int] | None = None
    added_arguments: tuple[AddedArgument, ...] = ()
    function_attributes: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # For other processes and for copies: a graph is too deep to be followed link by link.
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "graph": stored(self.graph)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, graph=state["graph"].module())

    def editable_graph(self) -> Module:
        """Return a copy of the graph that the caller owns."""
        return copy_module(self.graph)[0]

    @property
    def structures(self) -> Mapping[str, StructType]:
        """The named structure types of the module."""
        return self.graph.structures

    @property
    def metadata(self) -> Mapping[str, str]:
        """The text of each node of the module's metadata by its number or name."""
        return self.graph.metadata

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Return the names of all arguments, in their order."""
        return tuple(argument.name for argument in self.arguments)

    @cached_property
    def block(self) -> Mapping[str, Block]:
        """Blocks by name."""
        return {block.name: block for block in self.blocks}

    @cached_property
    def definition(self) -> Mapping[str, Instruction]:
        """Instructions with a result, by its name."""
        return {instruction.name: instruction for instruction in self.instructions() if instruction.name}

    @cached_property
    def block_of(self) -> Mapping[str, str]:
        """The name of the block that defines a value, by the value's name."""
        return {i.name: block.name for block in self.blocks for i in block.instructions if i.name}

    @cached_property
    def type_of(self) -> Mapping[str, Type]:
        """The types of arguments and of instructions' results, by name."""
        types = {argument.name: argument.type for argument in self.arguments}
        types.update((name, instruction.type) for name, instruction in self.definition.items())
        return types

    @cached_property
    def callees(self) -> frozenset[str]:
        """The names of the functions that are called."""
        return frozenset({i.callee for i in self.instructions() if i.opcode == "call"} - {""})

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {block.name: place for place, block in enumerate(self.blocks)}

    def in_order(self, names: Iterable[str]) -> list[Block]:
        """Return the blocks of some names, in the kernel's order."""
        return [self.block[name] for name in sorted(names, key=self._place.__getitem__)]

    @property
    def length(self) -> int:
        """The number of instructions."""
        return sum(len(block.instructions) for block in self.blocks)

    def instructions(self) -> Iterator[Instruction]:
        """Return an iterator over all instructions, block by block."""
        return chain.from_iterable(block.instructions for block in self.blocks)
