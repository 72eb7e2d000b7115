"""Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.output import console, write_result
from coarsen.explanation import Explanation, Marks, explain_kernel
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.source_text import opencl_c_of
from coarsen.printable import printable
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening


def print_explanation(
    path: Path,
    kernel: str | None,
    options: str,
    coarsenings: Iterable[Coarsening],
    output: Path | None,
    macros: DeviceMacros = PORTABLE,
) -> None:
    """Explain a kernel along the dimension and at the level of each coarsening, to a file or to standard output.

    Raises:
        InvalidInputError: the kernel can't be read, the output can't be written.
        RefusalError: the kernel can't be coarsened.
    """
    lowered, source = lower_file(path, kernel, options, macros), opencl_c_of(path)
    with naming_file(path):
        analyses = [analyse(lowered, each.dimension, each.level) for each in coarsenings]
        explanations = [explain_kernel(analysed, source) for analysed in analyses]
    if output is None and sys.stdout.isatty():
        for explanation in explanations:
            _print_coloured(explanation)
    else:
        write_result("\n".join(map(str, explanations)), output)


def _print_coloured(explanation: Explanation) -> None:
    from rich.text import Text

    styles = {explanation.text_of(line): _style(line.marks) for line in explanation.lines}
    terminal = console()
    for text in explanation.text_lines():
        terminal.print(Text(printable(text), style=styles.get(text, "")), soft_wrap=True)


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
