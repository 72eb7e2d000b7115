"""Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from coarsen.cli.kernel_input import is_ir_file, lower_file, naming_file
from coarsen.cli.output import console, write_result
from coarsen.explain import Explanation, Marks, explain_ir, explain_source, has_source
from coarsen.ir.kernel import Kernel
from coarsen.transform.configuration import Coarsening


def print_explanation(
    path: Path, kernel: str | None, options: str, coarsenings: Iterable[Coarsening], output: Path | None
) -> None:
    """Explain a kernel along the dimension and at the level of each coarsening, to a file or to standard output.

    Raises:
        InvalidInputError: the kernel can't be read, the output can't be written.
        RefusalError: the kernel can't be coarsened.
    """
    lowered = lower_file(path, kernel, options)
    with naming_file(path):
        explanations = [_explain(lowered, coarsening, path) for coarsening in coarsenings]
    if output is None and sys.stdout.isatty():
        for explanation in explanations:
            _print_coloured(explanation)
    else:
        write_result("\n".join(map(str, explanations)), output)


def _explain(lowered: Kernel, wanted: Coarsening, path: Path) -> Explanation:
    if is_ir_file(path) or not has_source(lowered):
        return explain_ir(lowered, wanted.dimension, wanted.level)
    return explain_source(lowered, wanted.dimension, path.read_text(encoding="utf-8"), wanted.level)


def _print_coloured(explanation: Explanation) -> None:
    from rich.text import Text

    styles = {explanation.text_of(line): _style(line.marks) for line in explanation.lines}
    terminal = console()
    for text in explanation.text_lines():
        terminal.print(Text(text, style=styles.get(text, "")), soft_wrap=True)


def _style(marks: Marks) -> str:
    if marks.barrier:
        return "cyan"
    if marks.assumed_uniform:
        return "magenta"
    if marks.heads:
        return "bold red"
    if marks.regions:
        return "red"
    if marks.divergent:
        return "yellow"
    return "" if marks.has_code else "dim"
