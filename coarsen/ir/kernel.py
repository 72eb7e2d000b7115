"""A kernel: one function of a module in normal form, and what the module says of it.

    Module, Function (graph, sealed) ─▶ Kernel: arguments as OpenCL C declares them, blocks and values by name

Blocks and instructions are those of the graph (`graph/instruction.py`), which never changes again: who wants to
edit it copies it (`Kernel.editable_graph`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coarsen.ir.added_arguments import AddedArgument as AddedArgument
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction, users
from coarsen.ir.graph.module import Module, attributes_of_callees
from coarsen.ir.graph.operands import Named
from coarsen.ir.graph.operands import ValueKind as ValueKind
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import copy_module, restored, stored
from coarsen.ir.graph.variables import GlobalVariable as GlobalVariable
from coarsen.ir.graph.variables import global_variable
from coarsen.ir.metadata import Metadata
from coarsen.ir.types import StructType, Type


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


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel and the module around it. The first block is the entry.

    Attributes:
        name: the function's.
        graph: the module, without debug information, whose names are unique (`graph/names.py`). It is sealed.
        added_arguments: describes the last of the arguments, those that transforms have added.

    Raises:
        InternalError: there is no such function.
        RefusalError: `unsupported-instruction`, for a program-scope variable that can't be read.
    """

    name: str
    graph: Module
    added_arguments: tuple[AddedArgument, ...] = ()

    def __post_init__(self) -> None:
        self.graph.seal()
        _ = self.function, self.globals  # what can't be read is refused here

    def __reduce__(self) -> tuple[Any, ...]:
        # For other processes and for copies: a graph is too deep to be followed link by link.
        return _restored, (self.name, *stored(self.graph), self.added_arguments)

    def editable_graph(self) -> Module:
        """Return a copy of the graph that the caller owns."""
        return copy_module(self.graph)[0]

    @cached_property
    def function(self) -> Function:
        """The function itself."""
        return self.graph.function(self.name)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, the entry first."""
        return tuple(self.function.blocks)

    @cached_property
    def globals(self) -> Mapping[str, GlobalVariable]:
        """The program-scope variables, by name."""
        variables = [variable for variable in self.graph.variables.values() if not variable.is_alias]
        return {variable.name: global_variable(variable, self.structures) for variable in variables}

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments, as OpenCL C declares them."""
        return tuple(self._arguments())

    def _arguments(self) -> Iterator[Argument]:
        metadata, described = Metadata(self.metadata), dict(self.function.attachments)
        # Each node lists all arguments: it is read once, not once for each of them.
        strings = {
            key: metadata.strings(described.get(f"kernel_arg_{key}", "").removeprefix("!"))
            for key in ("type", "base_type", "access_qual", "type_qual")
        }
        spaces = metadata.integers(described.get("kernel_arg_addr_space", "").removeprefix("!"))
        for index, argument in enumerate(self.function.arguments):
            yield Argument(
                name=argument.name,
                type=argument.type,
                attributes=argument.attributes,
                type_name=_at(strings["type"], index),
                base_type_name=_at(strings["base_type"], index),
                address_space=spaces[index] if index < len(spaces) else 0,
                access=_at(strings["access_qual"], index) or "none",
                qualifiers=tuple(_at(strings["type_qual"], index).split()),
            )

    @cached_property
    def required_work_group_size(self) -> tuple[int, int, int] | None:
        """The local size that the kernel demands, if it demands one."""
        node = self.function.attachment("reqd_work_group_size")
        if node is None:
            return None
        sizes = Metadata(self.metadata).integers(node.removeprefix("!"))
        return (sizes[0], sizes[1], sizes[2])

    @cached_property
    def function_attributes(self) -> Mapping[str, str]:
        """The attributes of each declared function."""
        return attributes_of_callees(self.graph)

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
    def callees(self) -> frozenset[str]:
        """The names of the functions that are called."""
        return frozenset({i.callee for i in self.instructions() if i.opcode == "call"} - {""})

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {block.name: place for place, block in enumerate(self.blocks)}

    @cached_property
    def _named(self) -> Mapping[str, Named]:
        named = {argument.name: argument for argument in self.function.arguments}
        variables = {f"@{name}": variable for name, variable in self.graph.variables.items()}
        return {**named, **self.definition, **variables}

    def users(self, name: str) -> list[Instruction]:
        """Return the instructions that use an argument, a value or, by its name with `@`, a variable."""
        return users(self._named[name])

    def in_order(self, names: Iterable[str]) -> list[Block]:
        """Return the blocks of some names, in the kernel's order."""
        return [self.block[name] for name in sorted(names, key=self._place.__getitem__)]

    @property
    def length(self) -> int:
        """The number of instructions."""
        return sum(len(block.instructions) for block in self.blocks)

    def instructions(self) -> Iterator[Instruction]:
        """Return an iterator over all instructions, block by block."""
        return self.function.instructions()


def _restored(name: str, text: str, origins: tuple[Origin, ...], added: tuple[AddedArgument, ...]) -> Kernel:
    return Kernel(name, restored(text, origins), added)


def _at(items: tuple[str, ...], index: int) -> str:
    return items[index] if index < len(items) else ""
