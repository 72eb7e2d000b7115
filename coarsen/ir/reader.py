"""From a module that llvmlite has parsed to `ir.Kernel`.

    llvmlite's module ─▶ text, printed once ─▶ graph ─▶ without debug information ─▶ view of one kernel

The module is expected in normal form: every value has a name, and no name needs quotes.
"""

from __future__ import annotations

from typing import Any

from coarsen.ir.graph.debug_metadata import without_debug_information
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.view import kernel_view
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import Metadata

_DROPPED_CALLS = ("llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.donothing")


def read_kernel(module: Any, name: str) -> Kernel:  # noqa: ANN401 (llvmlite has no types)
    """Read one kernel of a module.

    Args:
        module: an `llvmlite.binding.ModuleRef` in normal form.
        name: the kernel's name.

    Raises:
        InternalError: the kernel is not in the module.
        RefusalError: `unsupported-instruction` or `unsupported-type`, with the place in the source if the module
            tells it.
    """
    return kernel_view(read_module(str(module)), name)


def read_module(text: str) -> Module:
    """Read a module's text, as LLVM prints it, and keep of its debug information the positions in the source.

    Raises as `read_kernel` does.
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
        self._known: dict[str, Origin] = {"": UNKNOWN}

    def __call__(self, node: str) -> Origin:
        if node not in self._known:
            metadata = self._metadata
            self._known[node] = Origin(metadata.position(node), metadata.call_position(node))
        return self._known[node]
