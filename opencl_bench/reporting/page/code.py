"""Compilations needed for a kernel's section: its code before and after.

Plain data that another process can be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.base.processes import mapped
from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.reporting.page.content import After, Before, Pair, SourceLine
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.pipeline import run_pipeline
from coarsen.remarks.explanation import MarkedLine, Marks, explain_kernel
from coarsen.transform.coarsen import analyse
from coarsen.tuning.processes.compile_service import build_options, code_of, ir_hash_of
from coarsen.tuning.records.code import Form
from coarsen.tuning.workload.benchmark import Benchmark, Definitions
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A coarsening that is to be shown.

    `place` is a slug, `whose` says in words what the coarsening is there. `code_hash` is of what the device was
    given, empty where nothing was.
    """

    place: str
    whose: str
    variant: Variant
    form: Form
    code_hash: str


@dataclass(frozen=True, slots=True)
class KernelQuestions:
    """All questions about a kernel.

    Args:
        name: as it stands in the results.
        folder: with descriptions of kernels; None for those of the package alone.
        ir_hashes: of what was measured, by the `-D` values; several where devices had different versions.
        codes: coarsenings to show, in this order.
    """

    name: str
    folder: Path | None
    ir_hashes: Mapping[Definitions, frozenset[str]]
    codes: tuple[CodeQuestion, ...]


@dataclass(frozen=True, slots=True)
class KernelAnswers:
    """The pairs, and what is to be known of them.

    `original` is there where there is no pair, so that the source is shown anyway.
    """

    pairs: tuple[Pair, ...] = ()
    note: str = ""
    original: Before | None = None


# The work that a kernel's section needs: it is lowered once for each choice of `-D` values, in another process.
#
# KernelQuestions ─▶ find the source ─▶ lower ─▶ coarsenings to show ─▶ KernelAnswers

CHANGED = (
    "What is shown is not what was measured, at least not on every device: the kernel, its inputs or the compiler "
    "have changed since, for the normalised code is another"
)


@dataclass
class KnownKernel:
    """A kernel whose source is known, its compiled sources and its lowered forms, each made once."""

    benchmark: Benchmark
    units: dict[Definitions, TranslationUnit] = field(default_factory=dict)
    lowered: dict[Definitions, Kernel] = field(default_factory=dict)

    def with_values(self, definitions: Definitions) -> Kernel:
        """The kernel with some `-D` values. Raises as `lower` does."""
        if definitions not in self.lowered:
            self.lowered[definitions] = self._lower(self.benchmark.kernel, definitions)
        return self.lowered[definitions]

    def is_what_was_measured(self, definitions: Definitions, ir_hashes: Collection[str]) -> bool:
        """Return True if measurements made now would have these `ir_hash`es. Raises as `lower` does."""
        others = [self._lower(kernel, definitions) for kernel in self.benchmark.other_kernels]
        return {ir_hash_of(self.with_values(definitions), self.benchmark, others)}.issuperset(ir_hashes)

    def _lower(self, kernel: str, definitions: Definitions) -> Kernel:
        if definitions not in self.units:
            options = build_options(self.benchmark, definitions)
            self.units[definitions] = compile_source(self.benchmark.code, options)
        return lower(self.units[definitions], kernel)


def all_answers(asked: Sequence[KernelQuestions], processes: int | None = None) -> list[KernelAnswers]:
    """The answers of each kernel, in their order.

    Args:
        asked: one entry for each kernel.
        processes: how many work on it; see `processes.mapped`.
    """
    return mapped(answers_of, asked, processes)


def answers_of(asked: KernelQuestions) -> KernelAnswers:
    """The answers about one kernel; what can't be found or compiled is an answer too."""
    try:
        known = KnownKernel(_found(asked))
        # Of all, so that each is compiled, and a failure is shown as such.
        same = [known.is_what_was_measured(values, stored) for values, stored in asked.ir_hashes.items()]
    except InternalError:
        raise
    except CoarsenError as error:
        note = f"The source can't be shown: {error}"
        return KernelAnswers((), note)
    pairs = pairs_of(known.benchmark, asked.codes, known.with_values)
    note = "" if all(same) else CHANGED
    return KernelAnswers(pairs, note) if pairs else _without_pairs(known, asked, note)


def _found(asked: KernelQuestions) -> Benchmark:
    try:
        return find_measured(asked.name, asked.folder)
    except InvalidInputError as error:
        if asked.folder is not None:
            raise
        hint = "--kernels names the folder that has its description (NAME.toml)"
        raise InvalidInputError(f"{error}; {hint}") from None


def _without_pairs(known: KnownKernel, asked: KernelQuestions, note: str) -> KernelAnswers:
    """The answers of a kernel that nothing coarsens: its source alone, along the first dimension."""
    dimension = known.benchmark.dimensions[0]
    definitions = next(iter(asked.ir_hashes), ())
    try:
        original = before_of(known.benchmark, known.with_values(definitions), dimension)
    except RefusalError as refusal:
        return KernelAnswers((), "; ".join(filter(None, (note, f"It can't be coarsened: {refusal}"))))
    return KernelAnswers((), note, original)


# A kernel's source beside its coarsened forms, each shown once however many places have it as their best.
#
# source ─▶ marked lines along the dimension ─┐
# kernel ─▶ coarsened as it was measured      ┴─▶ Pair

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
    return tuple(_pair(benchmark, shown, asked, kernel_with(shown.definitions)) for shown, asked in groups.items())


def _pair(benchmark: Benchmark, shown: Variant, asked: Sequence[CodeQuestion], kernel: Kernel) -> Pair:
    places, whose = tuple(code.place for code in asked), tuple(code.whose for code in asked)
    heading = str(shown)
    try:
        before = before_of(benchmark, kernel, shown.coarsenings[0].dimension)
        coarsened = run_pipeline(kernel, shown).kernel
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
