"""Between today's `ir.Kernel` and the graph, for as long as not all transforms work on the graph."""

from __future__ import annotations

from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.printer import module_text


def thaw(kernel: Kernel) -> Module:
    """Return a module that the caller owns, with a kernel and its positions in the source."""
    module = parse_module(module_text(kernel))
    function = module.function(kernel.name)
    for block, old in zip(function.blocks, kernel.blocks, strict=True):
        for instruction, known in zip(block.instructions, old.instructions, strict=True):
            instruction.origin = Origin(known.position, known.call_position)
        block.origin = block.terminator.origin
    return module


def module_like(kernel: Kernel) -> Module:
    """Return an empty module for a kernel's target: for instructions that are looked at and thrown away."""
    return Module(triple="spir-unknown-unknown" if 'target triple = "spir-' in kernel.before else "")
