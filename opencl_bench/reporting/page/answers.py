"""The work that a kernel's section needs: it is lowered once for each choice of `-D` values, in another process.

KernelQuestions ─▶ find the source ─▶ lower ─▶ coarsenings to show ─▶ KernelAnswers
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.reporting.page.pairs import before_of, pairs_of
from coarsen.opencl_bench.reporting.page.questions import (
    KernelAnswers,
    KernelQuestions,
)
from coarsen.opencl_bench.sweep.compile_service import build_options, ir_hash_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.processes import mapped

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
