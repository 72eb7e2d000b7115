"""An evaluator that measures: choices of a configuration space become rows of the store.

    choice ──▶ variant ──▶ row, from the store or measured now ──▶ its time relative to the baseline's

The baseline ran in turns with each configuration, so that trials of different moments can be compared. A row that
the store has costs no time, and counts as tried like any other: a search that was killed goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.search.evaluator import Evaluator, Trial
from coarsen.tuning.search.spaces import Choice, VariantSearchSpace
from coarsen.variant.variant import Variant

# Of a clock that is too coarse for the kernel: a time is above 0.
_LEAST_NANOSECONDS = 1.0


def unobserved(_number: int, _seconds: float) -> None:
    """Do nothing: the observer of trials where nobody looks."""


class LiveEvaluator(Evaluator):
    """Measures choices of a configuration space against one baseline.

    A trial's time is the median of the configuration over that of the baseline, both of one row. Its seconds are
    wall-clock time: of measuring, and of compiling as far as that was waited for; 0 where the store has the row.

    A watch-dog's limit ends no run early: the run ends by the rules of every sweep, and the trial is then reported
    as killed, since what the store has of a configuration must not depend on the search that asked for it.

    Args:
        measurer: gives the rows.
        baseline: the uncoarsened configuration that all are timed against.
        space: the choices that may be tried.
        trying: is told the number of each trial, from 1 on, and the seconds of those before, when it begins.
    """

    def __init__(
        self,
        measurer: RowMeasurer,
        baseline: Variant,
        space: VariantSearchSpace,
        trying: Callable[[int, float], None] = unobserved,
    ) -> None:
        super().__init__(space)
        self._measurer = measurer
        self._baseline = baseline
        self._variants = space
        self._trying = trying
        self._seconds = 0.0
        self._preparing_seconds = 0.0
        self._rows: list[Measurement] = []

    @property
    def rows(self) -> Sequence[Measurement]:
        """The rows of what was tried, in its order."""
        return self._rows

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Begin to compile choices on all processors; where that would disturb measuring, wait for it.

        The seconds that it waits belong to the trial that is measured next.
        """
        start = time.perf_counter()
        self._measurer.compile_ahead(map(self._variants.variant, choices), self._baseline)
        self._preparing_seconds += time.perf_counter() - start

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        self._trying(self.tried + 1, self._seconds)
        seconds = 0.0
        if self._measurer.is_compared(variant, self._baseline):
            row = self._measurer.compared(variant, self._baseline)
        else:
            start = time.perf_counter()
            row = self._measurer.compared(variant, self._baseline)
            seconds = self._preparing_seconds + time.perf_counter() - start
            self._preparing_seconds = 0.0
        self._rows.append(row)
        self._seconds += seconds
        return Trial(choice, relative_time(row), seconds, row.reason)


def relative_time(row: Measurement) -> float | None:
    """Return how long a configuration takes, relative to its baseline; None of a row that has no time."""
    if row.invalidity is not Invalidity.CORRECT:
        return None
    ran, baseline = median(row.nanoseconds), median(row.baseline_nanoseconds)
    return max(ran, _LEAST_NANOSECONDS) / max(baseline, _LEAST_NANOSECONDS)
