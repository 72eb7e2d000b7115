"""Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.kernel_input import naming_file
from coarsen.cli.output import console, write_result
from coarsen.cli.report_text import distinct_lines
from coarsen.explanation import Explanation, Marks, explain_kernel
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import for_distinct_memory
from coarsen.printable import printable
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class ExplainedKernel:
    """A kernel along each dimension that was asked for, and what is kept in registers for distinct memory."""

    explanations: Sequence[Explanation]
    gained: str

    def __str__(self) -> str:
        return "\n".join(map(str, self.explanations)) + self.gained


def explained(
    path: Path,
    unit: TranslationUnit,
    kernel: str | None,
    coarsenings: Iterable[Coarsening],
    *,
    distinct: bool = False,
    coarsened: Kernel | None = None,
    for_gpu: bool = False,
) -> ExplainedKernel:
    """Explain a kernel along the dimension and at the level of each coarsening.

    `path` is the file that `unit` is compiled from. Where `distinct` is true, say also what is kept in registers
    if arguments point to distinct memory. Lines are marked with what came of them in `coarsened`, if that is
    given. What memory accesses cost is said `for_gpu`.

    Raises:
        InvalidInputError: it isn't clear which kernel is meant.
        RefusalError: the kernel can't be coarsened.
    """
    source = opencl_c_of(path)
    with naming_file(path):
        lowered = lower(unit, kernel)
        analyses = [analyse(lowered, each.dimension, each.level) for each in coarsenings]
        explanations = [explain_kernel(analysed, source, coarsened, for_gpu=for_gpu) for analysed in analyses]
        return ExplainedKernel(explanations, _gained(lowered) if distinct else "")


def print_explanations(kernels: Sequence[ExplainedKernel], output: Path | None) -> None:
    """Print explained kernels to a file or to standard output.

    Raises:
        InvalidInputError: the file can't be written.
    """
    if output is not None or not sys.stdout.isatty():
        write_result("\n".join(map(str, kernels)), output)
        return
    for kernel in kernels:
        for explanation in kernel.explanations:
            _print_coloured(explanation)
        write_result(kernel.gained, None)


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
