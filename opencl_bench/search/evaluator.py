"""Interface of a search over a space to measurements: the only way to a time, and one count of what was tried.

    searcher ── variant ──▶ Evaluator ── Evaluation ──▶ searcher

An evaluator may measure on a device or look up stored rows; a searcher can't tell which. It counts distinct
variants, failed ones too, so that searchers are compared by the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.variant.space import VariantSpace
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of trying a variant.

    Attributes:
        variant: what was tried.
        invalidity: how it ended.
        nanoseconds: the median duration of the whole job; None unless it ended correctly.
        compile_seconds: wall-clock time spent on compiling it.
        measure_seconds: wall-clock time spent on running it.
    """

    variant: Variant
    invalidity: Invalidity
    nanoseconds: float | None
    compile_seconds: float = 0.0
    measure_seconds: float = 0.0

    @property
    def is_correct(self) -> bool:
        """Return True if there is a duration to compare."""
        return self.nanoseconds is not None


class Evaluator(Protocol):
    """Tries variants of one kernel on one device, at one size."""

    @property
    def space(self) -> VariantSpace:
        """The variants that may be tried."""
        ...

    @property
    def tried(self) -> int:
        """The number of distinct variants tried so far, failed ones too."""
        ...

    def evaluate(self, variant: Variant) -> Evaluation:
        """Try a variant; one that was tried before gives the same evaluation again and counts once.

        Raises:
            InvalidInputError: the variant is not in the space.
            DeviceError: nothing can be measured any more.
        """
        ...
