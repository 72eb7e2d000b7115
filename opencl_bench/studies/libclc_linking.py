"""Linking libclc's bitcode into a kernel's module: link, make all but the kernel internal, remove what is dead."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm

from coarsen.ir.modules import run_passes, target_machine

_TRIPLE = "nvptx64-nvidia-cuda"
_REMOVE = ("global_dead_code_eliminate", "strip_dead_prototype")
_PASSES = (
    *("always_inliner", "global_dead_code_eliminate", "strip_dead_prototype"),
    *("sroa", "instruction_combine", "simplify_cfg", "aggressive_dce"),
)


@contextmanager
def linked(text: str, library: bytes, kept: Container[str], triple: str, layout: str) -> Iterator[Any]:
    """Link a module's text with a library, make all but some functions internal, remove what nobody calls.

    Args:
        text: LLVM IR.
        library: bitcode of the same version of LLVM, or an older one.
        kept: the functions that stay visible.
        triple: the target of both.
        layout: its data layout.

    Yields:
        the `llvmlite.binding.ModuleRef`, closed at the end of the `with`.
    """
    context = llvm.create_context()
    module = llvm.parse_assembly(text, context)
    other = llvm.parse_bitcode(library, context)
    try:
        for each in (module, other):
            each.triple, each.data_layout = triple, layout
        module.link_in(other)
        for function in module.functions:
            if not function.is_declaration and function.name not in kept:
                function.linkage = "internal"
        for variable in module.global_variables:
            if not variable.is_declaration:
                variable.linkage = "internal"
        run_passes(module, _REMOVE)
        module.verify()
        yield module
    finally:
        module.close()
        context.close()


def linked_ptx(text: str, library: bytes, kernels: Container[str], architecture: str) -> str:
    """Return the PTX of kernels in NVPTX's conventions, linked with libclc."""
    machine = target_machine(_TRIPLE, architecture)
    with linked(text, library, kernels, _TRIPLE, str(machine.target_data)) as module:
        run_passes(module, _PASSES, machine)
        return str(machine.emit_assembly(module))
