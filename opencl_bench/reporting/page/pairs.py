"""A kernel's source beside its coarsened forms, each shown once however many places have it as their best.

source ─▶ marked lines along the dimension ─┐
kernel ─▶ coarsened as it was measured      ┴─▶ Pair
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import RefusalError
from coarsen.explanation import MarkedLine, Marks, explain_kernel
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.reporting.page.content import After, Before, Pair, SourceLine
from coarsen.opencl_bench.reporting.page.questions import CodeQuestion
from coarsen.opencl_bench.sweep.compile_service import build_options, code_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.pipeline import carry_out
from coarsen.transform.coarsen import analyse
from coarsen.variant.variant import Variant

# Coarsened kernels of large factors have thousands of lines that are all alike.
MOST_LINES = 400

SAME = "This is, byte for byte, what was measured"
OTHER = "This is what coarsen writes today; what was measured was written otherwise"
AS_OTHER_FORM = "It was measured in another form of code; this is the same coarsening as OpenCL C"


def pairs_of(
    benchmark: Benchmark, codes: Iterable[CodeQuestion], kernel_with: Callable[[Definitions], Kernel]
) -> tuple[Pair, ...]:
    """The pairs to show, in the order of the questions; what was asked several times stands once.

    Args:
        benchmark: the kernel.
        codes: what to show.
        kernel_with: gives the lowered kernel with some `-D` values.
    """
    groups: dict[Variant, list[CodeQuestion]] = {}
    for code in codes:
        groups.setdefault(code.variant, []).append(code)
    pairs = [_pair(benchmark, shown, asked, kernel_with(shown.definitions)) for shown, asked in groups.items()]
    return _merged(pairs)


def _pair(benchmark: Benchmark, shown: Variant, asked: Sequence[CodeQuestion], kernel: Kernel) -> Pair:
    places, whose = tuple(code.place for code in asked), tuple(code.whose for code in asked)
    heading = str(shown)
    try:
        before = before_of(benchmark, kernel, shown.coarsenings[0].dimension)
        coarsened = carry_out(kernel, shown).kernel
        made = CoarsenedKernel(coarsened, shown.coarsenings, ())
        lines = made.opencl_c.removesuffix("\n").split("\n")
    except RefusalError as refusal:
        return Pair(heading, places, whose, None, After((), refusal=str(refusal)), ())
    after = After(tuple(lines[:MOST_LINES]), max(0, len(lines) - MOST_LINES))
    options = build_options(benchmark, shown.definitions)
    return Pair(heading, places, whose, before, after, tuple(dict.fromkeys(_remarks(made, asked, options))))


def _remarks(made: CoarsenedKernel, asked: Iterable[CodeQuestion], options: tuple[str, ...]) -> Iterator[str]:
    for code in asked:
        if code.form != "opencl_c":
            yield AS_OTHER_FORM
        elif code.code_hash:
            yield SAME if code_of(made, "opencl_c", options).hash == code.code_hash else OTHER


def before_of(benchmark: Benchmark, kernel: Kernel, dimension: int) -> Before:
    """A kernel's source with its marks along a dimension. Raises RefusalError where it can't be coarsened so."""
    explanation = explain_kernel(analyse(kernel, dimension), opencl_c_of(benchmark.code))
    lines = tuple(map(_line, explanation.lines))
    return Before(explanation.heading, lines, explanation.legend)


def _line(line: MarkedLine) -> SourceLine:
    return SourceLine(line.number, line.text, line.marks.gutter, _look(line.marks))


def _look(marks: Marks) -> str:
    """Return the look of a line: of several that apply, the one that matters most."""
    if marks.barrier:
        return "barrier"
    if marks.heads:
        return "head"
    if marks.regions:
        return "region"
    if marks.divergent:
        return "divergent"
    return "uniform" if marks.has_code else "none"


def _merged(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Merge pairs of the same text: other transforms may give the same code."""
    found: dict[object, Pair] = {}
    for pair in pairs:
        key = (pair.configuration, pair.after)
        other = found.get(key)
        found[key] = pair if other is None else _joined(other, pair)
    return tuple(found.values())


def _joined(one: Pair, other: Pair) -> Pair:
    remarks = tuple(dict.fromkeys((*one.remarks, *other.remarks)))
    return Pair(
        one.configuration,
        (*one.places, *other.places),
        (*one.whose, *other.whose),
        one.before,
        one.after,
        remarks,
    )
