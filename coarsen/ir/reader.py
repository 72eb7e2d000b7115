"""From a module's text, as LLVM prints it, to the graph of a kernel (`kernel.py`).

    text ─▶ graph, with positions in the source ─▶ without debug information

The module is expected in normal form: every value has a name, and no name needs quotes.
"""

from __future__ import annotations

from coarsen.ir.graph.debug_metadata import without_debug_information
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.metadata import Metadata

_DROPPED_CALLS = ("llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.donothing")


def read_module(text: str) -> Module:
    """Read a module's text, as LLVM prints it, and keep of its debug information the positions in the source.

    Args:
        text: a module in normal form.

    Raises:
        RefusalError: `unsupported-instruction` or `unsupported-type`, with the place in the source if the module
            tells it.
    """
    module = parse_module(text, _Positions(text))
    without_debug_information(module)
    for function in module.functions.values():
        for block in function.blocks:
            if any(map(_is_dropped, block.instructions)):
                block.replace_instructions([i for i in block.instructions if not _is_dropped(i)])
    return module


def _is_dropped(instruction: Instruction) -> bool:
    return instruction.callee.startswith(_DROPPED_CALLS)


class _Positions:
    """The origins that a module's debug locations tell, by the numbers of their nodes."""

    def __init__(self, text: str) -> None:
        self._metadata = Metadata.of_text(text)
        self._known: dict[str, Origin] = {"": Origin()}

    def __call__(self, node: str) -> Origin:
        if node not in self._known:
            metadata = self._metadata
            self._known[node] = Origin(metadata.position(node), metadata.call_position(node))
        return self._known[node]
