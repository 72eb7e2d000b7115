"""The kernel that is replicated: as analyses know it, and as the graph of which copies are made."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import named_in
from coarsen.ir.graph.operands import Named
from coarsen.ir.graph.rewriting import ValueMap
from coarsen.ir.kernel import Instruction as Known
from coarsen.ir.kernel import Kernel


class Template:
    """A kernel of which copies are made; its own graph is sealed.

    Args:
        kernel: in normal form.
        module: into which copies are written, owned by whoever makes the template: the kernel's without its body.
        values: what stands there for the kernel's arguments, variables and callees.

    Attributes:
        kernel: as analyses know it.
        module: into which copies are written.
        values: what stands there for the kernel's arguments, variables and callees.
        function: the kernel's graph.
        block: its blocks, by name.
        known: its instructions as analyses know them.
    """

    def __init__(self, kernel: Kernel, module: Module, values: ValueMap) -> None:
        self.kernel = kernel
        self.module = module
        self.values = values
        self.function = kernel.graph.function(kernel.name)
        self.block: Mapping[str, Block] = {block.name: block for block in self.function.blocks}
        self.known: Mapping[Instruction, Known] = dict(
            zip(self.function.instructions(), kernel.instructions(), strict=True)
        )
        self._values = {named.name: named for named in named_in(self.function) if named.name not in self.block}

    def value(self, name: str) -> Named:
        """Return an argument or an instruction's result by its name, or with an `@` a program-scope variable."""
        return self.kernel.graph.variables[name[1:]] if name.startswith("@") else self._values[name]

    def in_order(self, names: frozenset[str]) -> list[Block]:
        """Return the blocks of some names, in the kernel's order."""
        return [self.block[block.name] for block in self.kernel.in_order(names)]
