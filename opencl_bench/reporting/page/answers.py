"""The work that a kernel's section needs: it is lowered once for each choice of `-D` values, in another process.

KernelQuestions ─▶ find the source ─▶ lower ─▶ predictions ─▶ coarsenings to show ─▶ KernelAnswers
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.launch_prediction import AskedLaunch, launch_model, predict_launch
from coarsen.models.device_descriptors import known_descriptor
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.opencl_bench.reporting.page.pairs import before_of, pairs_of
from coarsen.opencl_bench.reporting.page.questions import (
    CodeQuestion,
    KernelAnswers,
    KernelQuestions,
    PredictionAnswer,
    PredictionQuestion,
)
from coarsen.opencl_bench.sweep.compile_service import build_options, ir_hash_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.processes import mapped
from coarsen.targets import Target

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
        return KernelAnswers(tuple(PredictionAnswer(None, note="no source") for _ in asked.predictions), (), note)
    predictions = tuple(_answer(known, question) for question in asked.predictions)
    codes = [*asked.codes, *_chosen(asked.predictions, predictions)]
    pairs = pairs_of(known.benchmark, codes, known.with_values)
    note = "" if all(same) else CHANGED
    return KernelAnswers(predictions, pairs, note) if pairs else _without_pairs(known, asked, predictions, note)


def _found(asked: KernelQuestions) -> Benchmark:
    try:
        return find_measured(asked.name, asked.folder)
    except InvalidInputError as error:
        if asked.folder is not None:
            raise
        hint = "--kernels names the folder that has its description (NAME.toml)"
        raise InvalidInputError(f"{error}; {hint}") from None


def _without_pairs(
    known: KnownKernel, asked: KernelQuestions, predictions: tuple[PredictionAnswer, ...], note: str
) -> KernelAnswers:
    """The answers of a kernel that nothing coarsens: its source alone, along the first dimension."""
    dimension = asked.predictions[0].dimension if asked.predictions else known.benchmark.dimensions[0]
    definitions = next(iter(asked.ir_hashes), ())
    try:
        original = before_of(known.benchmark, known.with_values(definitions), dimension)
    except RefusalError as refusal:
        return KernelAnswers(predictions, (), "; ".join(filter(None, (note, f"It can't be coarsened: {refusal}"))))
    return KernelAnswers(predictions, (), note, original)


def _chosen(
    questions: Iterable[PredictionQuestion], answers: Iterable[PredictionAnswer]
) -> Iterator[CodeQuestion]:
    """The coarsenings that the model chose."""
    for question, answer in zip(questions, answers, strict=True):
        if answer.factor is not None and answer.factor in question.codes:
            yield question.codes[answer.factor]


def _answer(known: KnownKernel, question: PredictionQuestion) -> PredictionAnswer:
    descriptor = known_descriptor(question.device, question.platform)
    if descriptor is None:
        return PredictionAnswer(None, note="the model does not know this device")
    asked = AskedLaunch(question.local_size or None, dimension=question.dimension, factors_only=True)
    try:
        kernel = known.with_values(question.definitions)
        return _worded(predict_launch(kernel, launch_model(), Target(descriptor), asked))
    except RefusalError as refusal:
        return PredictionAnswer(None, note=f"can't be coarsened: {refusal}")
    except InternalError:
        raise
    except CoarsenError as error:
        return PredictionAnswer(None, note=str(error))


def _worded(prediction: LaunchPrediction) -> PredictionAnswer:
    note = "the model abstains: the kernel is unlike all that it learned from" if prediction.abstained else ""
    expected = prediction.chosen.over_own.value if prediction.factor > 1 else None
    return PredictionAnswer(prediction.factor, expected, note)
