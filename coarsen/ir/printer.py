"""From `ir.Kernel`, or from blocks that are written as text, to LLVM IR text."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.ir.kernel import Kernel


def module_text(kernel: Kernel) -> str:
    """The whole module of a kernel as LLVM IR text."""
    blocks = ((block.name, [i.text for i in block.instructions]) for block in kernel.blocks)
    return assemble(kernel, blocks)


def assemble(kernel: Kernel, blocks: Iterable[tuple[str, Iterable[str]]], declarations: Iterable[str] = ()) -> str:
    """The module of `kernel` with another body.

    Args:
        kernel: whose surroundings (signature, globals, declarations, metadata) stay.
        blocks: pairs of a block's name and its instructions' texts, entry first.
        declarations: further `declare` lines that the body needs.
    """
    body = "\n".join(f"{name}:\n" + "".join(f"  {line}\n" for line in lines) for name, lines in blocks)
    head = "".join(f"{line}\n" for line in declarations)
    return f"{kernel.before}{head}\n{kernel.signature}\n{body}}}\n{kernel.after}"
