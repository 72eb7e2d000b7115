"""A module as text and origins: what goes to other processes, and into caches, in place of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.printer import module_text


@dataclass(frozen=True, slots=True)
class StoredModule:
    """A module whose names are unique.

    Attributes:
        text: LLVM IR.
        origins: of each block and the instructions in it, in their order.
        sealed: the names of the functions that are sealed.
        is_sealed: whether the module is.
    """

    text: str
    origins: tuple[Origin, ...]
    sealed: frozenset[str]
    is_sealed: bool = False

    def module(self) -> Module:
        """Return the module as it was."""
        module = parse_module(self.text)
        for placed, origin in zip(_with_origins(module), self.origins, strict=True):
            placed.origin = origin
        for name in self.sealed:
            module.functions[name].seal()
        module.is_sealed = self.is_sealed
        return module


def stored(module: Module) -> StoredModule:
    """Return what is kept of a module whose names are unique (`names.py`)."""
    sealed = frozenset(name for name, function in module.functions.items() if function.is_sealed)
    origins = tuple(placed.origin for placed in _with_origins(module))
    return StoredModule(module_text(module), origins, sealed, module.is_sealed)


def _with_origins(module: Module) -> Iterator[Block | Instruction]:
    for function in module.functions.values():
        for block in function.blocks:
            yield block
            yield from block.instructions
