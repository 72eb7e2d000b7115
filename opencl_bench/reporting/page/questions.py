"""Compilations needed for a kernel's section: its code before and after.

Plain data that another process can be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.reporting.page.content import Before, Pair
from coarsen.opencl_bench.workloads.benchmark import Definitions
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
