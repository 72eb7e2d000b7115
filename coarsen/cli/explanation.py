"""Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from coarsen.cli.kernel_input import is_ir_file, lower_file, naming_file
from coarsen.cli.options import checked_dimension
from coarsen.cli.output import console, write_result
from coarsen.explain import Explanation, Marks, explain_ir, explain_source, has_source
from coarsen.ir.kernel import Kernel


def print_explanation(
    path: Path, kernel: str | None, options: str, dimensions: Sequence[int], output: Path | None
) -> None:
    """Explain a kernel along each dimension, to a file or to standard output.

    Raises:
        InvalidInputError: the kernel can't be read, a dimension is out of range, the output can't be written.
        RefusalError: the kernel can't be coarsened.
    """
    checked = [checked_dimension(dimension) for dimension in dimensions]
    lowered = lower_file(path, kernel, options)
    with naming_file(path):
        explanations = [_explain(lowered, dimension, path) for dimension in checked]
    if output is None and sys.stdout.isatty():
        for explanation in explanations:
            _print_coloured(explanation)
    else:
        write_result("\n".join(map(str, explanations)), output)


def _explain(lowered: Kernel, dimension: int, path: Path) -> Explanation:
    if is_ir_file(path) or not has_source(lowered):
        return explain_ir(lowered, dimension)
    return explain_source(lowered, dimension, path.read_text(encoding="utf-8"))


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
