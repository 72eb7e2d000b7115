"""From `ir.Kernel`, or from the blocks that a transform wrote, to LLVM IR text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from coarsen.ir.kernel import Kernel

_NAME = re.compile(r'%([-a-zA-Z$._][-a-zA-Z$._0-9]*)|(@(?:[-a-zA-Z$._0-9]+|"[^"]*"))')


def module_text(kernel: Kernel) -> str:
    """The whole module of a kernel as LLVM IR text."""
    blocks = ((block.name, [i.text for i in block.instructions]) for block in kernel.blocks)
    return assemble(kernel, blocks)


def assemble(
    kernel: Kernel,
    blocks: Iterable[tuple[str, Iterable[str]]],
    declarations: Iterable[str] = (),
    signature: str | None = None,
) -> str:
    """The module of `kernel` with another body.

    Args:
        kernel: whose surroundings (globals, declarations, metadata) stay.
        blocks: pairs of a block's name and its instructions' texts, entry first.
        declarations: further `declare` lines that the body needs.
        signature: the `define` line, where it changes.
    """
    body = "\n".join(f"{name}:\n" + "".join(f"  {line}\n" for line in lines) for name, lines in blocks)
    head = "".join(f"{line}\n" for line in declarations)
    return f"{kernel.before}{head}\n{signature or kernel.signature}\n{body}}}\n{kernel.after}"


def rename(text: str, names: Mapping[str, str]) -> str:
    """An instruction's text with names replaced.

    `names` maps the name of a value or block, without `%`, or that of a program-scope variable, with `@`, to what
    stands in its place: another name with its `%` or `@`, or a constant.
    """
    return _NAME.sub(lambda match: names.get(match[1] or match[2], match.group()), text)
