"""Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from coarsen.cli.kernel_input import lower_file, naming_file
from coarsen.cli.output import console, write_result
from coarsen.cli.report_text import distinct_lines
from coarsen.explanation import Explanation, Marks, explain_kernel
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import for_distinct_memory
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
    *,
    distinct: bool = False,
    coarsened: Kernel | None = None,
    for_gpu: bool = False,
) -> None:
    """Explain a kernel along the dimension and at the level of each coarsening, to a file or to standard output.

    Where `distinct` is true, say also what is kept in registers if arguments point to distinct memory. Lines are
    marked with what came of them in `coarsened`, if that is given. What memory accesses cost is said `for_gpu`.

    Raises:
        InvalidInputError: the kernel can't be read, the output can't be written.
        RefusalError: the kernel can't be coarsened.
    """
    lowered, source = lower_file(path, kernel, options, macros), opencl_c_of(path)
    with naming_file(path):
        analyses = [analyse(lowered, each.dimension, each.level) for each in coarsenings]
        explanations = [explain_kernel(analysed, source, coarsened, for_gpu=for_gpu) for analysed in analyses]
        gained = _gained(lowered) if distinct else ""
    if output is None and sys.stdout.isatty():
        for explanation in explanations:
            _print_coloured(explanation)
        write_result(gained, None)
    else:
        write_result("\n".join(map(str, explanations)) + gained, output)


def _gained(kernel: Kernel) -> str:
    _, found = for_distinct_memory(kernel)
    return "".join(f"{line}\n" for line in ("", *distinct_lines(found), *found.assumptions()))


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
