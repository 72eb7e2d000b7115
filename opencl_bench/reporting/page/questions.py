"""Compilations needed for a kernel's section: predictions, and its code before and after.

Plain data that another process can be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.reporting.page.content import Before, Pair
from coarsen.opencl_bench.workloads.benchmark import Definitions, LocalSize
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
class PredictionQuestion:
    """The question which factor the launch model chooses for a launch at a place.

    `device` and `platform` are OpenCL's names. `codes` has what is to be shown if a factor is chosen.
    """

    place: str
    device: str
    platform: str
    dimension: int
    local_size: LocalSize
    definitions: Definitions
    codes: Mapping[int, CodeQuestion] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PredictionAnswer:
    """Its factor and the speed-up that it expects of it; a factor of None if there is no prediction.

    `note` is what to know of the answer, or why there is none.
    """

    factor: int | None
    expected: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class KernelQuestions:
    """All questions about a kernel.

    Args:
        name: as it stands in the results.
        folder: with descriptions of kernels; None for those of the package alone.
        ir_hashes: of what was measured, by the `-D` values; several where devices had different versions.
        predictions: launches.
        codes: coarsenings to show, in this order.
    """

    name: str
    folder: Path | None
    ir_hashes: Mapping[Definitions, frozenset[str]]
    predictions: tuple[PredictionQuestion, ...]
    codes: tuple[CodeQuestion, ...]


@dataclass(frozen=True, slots=True)
class KernelAnswers:
    """Answers to the predictions in their order, the pairs, and what is to be known of them.

    `original` is there where there is no pair, so that the source is shown anyway.
    """

    predictions: tuple[PredictionAnswer, ...]
    pairs: tuple[Pair, ...] = ()
    note: str = ""
    original: Before | None = None
