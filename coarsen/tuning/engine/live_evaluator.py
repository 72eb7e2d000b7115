"""Evaluators that measure: choices of a configuration space become rows of the store.

    choice ──▶ variant ──▶ row, from the store or measured now ──▶ its time relative to the baseline's

The baseline ran in turns with each configuration, so that trials of different moments can be compared. A row that
the store has costs no time, and counts as tried like any other: a search that was killed goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait

from coarsen.errors import DeviceError
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.search.evaluator import Evaluator, Trial
from coarsen.tuning.search.spaces import Choice, NamedVariants, VariantSearchSpace
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

# Of a clock that is too coarse for the kernel: a time is above 0.
_LEAST_NANOSECONDS = 1.0
# A variant becomes the reference if it takes at most so much of the reference's time: each change adds its noise.
_MUCH_FASTER = 0.7


def unobserved(_number: int, _seconds: float) -> None:
    """Do nothing: the observer of trials where nobody looks."""


class LiveEvaluator(Evaluator):
    """Measures choices of a configuration space against one baseline.

    A trial's time is the median of the configuration over that of the baseline, both of one row. Its seconds are
    wall-clock time: of measuring, and of compiling as far as that was waited for; 0 where the store has the row.

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
        space: VariantSearchSpace | NamedVariants,
        trying: Callable[[int, float], None] = unobserved,
    ) -> None:
        super().__init__(space)
        self._measurer = measurer
        self._baseline = baseline
        self._variants = space
        self._trying = trying
        self._preparing_seconds = 0.0
        self._rows: list[Measurement] = []

    @property
    def rows(self) -> Sequence[Measurement]:
        """The rows of what was tried, in its order."""
        return self._rows

    def _prepare(self, choices: Sequence[Choice]) -> None:
        """Begin to compile choices on all processors; where that would disturb measuring, wait for it.

        The seconds that it waits belong to the trial that is measured next.
        """
        start = time.perf_counter()
        self._measurer.compile_ahead(map(self._variants.variant, choices), self._baseline)
        self._preparing_seconds += time.perf_counter() - start

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        self._trying(self.tried + 1, sum(trial.seconds for trial in self.trace))
        is_stored = self._measurer.is_compared(variant, self._baseline)
        start = time.perf_counter()
        row = self._measurer.compared(variant, self._baseline)
        self._rows.append(row)
        if is_stored:
            return Trial(choice, relative_time(row), 0.0, row.reason)
        seconds, self._preparing_seconds = self._preparing_seconds + time.perf_counter() - start, 0.0
        return Trial(choice, relative_time(row), seconds, row.reason)


class RacingEvaluator(Evaluator):
    """Measures variants of a launch, each against the fastest so far; times are relative to the launch as it is.

        choice ──▶ variant ──▶ row, timed in turns with the reference ──▶ its time, times that of the reference

    In turns with a launch that is ten times as slow, nearly all the time would go to that. So a variant that is
    much faster takes its place as the reference; the time of the launch as it is stays 1.

    What is not compiled, since it is refused or takes too long, is not asked for again in kind: of variants made
    alike, one that merges as much or more fails in the same way, after as much time.

    Args:
        measurer: gives the rows.
        own: the launch as it is, which was measured before.
        space: the choices that may be tried.
        time_left: the seconds that are left for trying.
        trying: is called before each that is tried.
    """

    def __init__(
        self,
        measurer: RowMeasurer,
        own: Variant,
        space: VariantSearchSpace,
        time_left: Callable[[], float],
        trying: Callable[[RacingEvaluator], None] | None = None,
    ) -> None:
        super().__init__(space)
        self._measurer = measurer
        self._own = own
        self._variants = space
        self._time_left = time_left
        self._trying = trying
        self._reference = own
        self._is_fixed = False
        self._times = {own: 1.0}
        self._uncompiled: list[Variant] = []

    @property
    def gains(self) -> Mapping[Variant, float]:
        """Return how many times as fast as the launch as it is each variant was that ran correctly."""
        return {variant: 1 / time for variant, time in self._times.items()}

    def _prepare(self, choices: Sequence[Choice]) -> None:
        """Compile choices on all processors, and wait for that as long as there is time."""
        codes = self._measurer.context.codes
        variants = map(self._variants.variant, choices)
        wanted = [variant for variant in variants if self._failed_alike(variant) is None]
        wait([codes.ahead(variant) for variant in wanted], timeout=self._time_left())

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        if self._trying is not None:
            self._trying(self)
        if variant == self._own:
            return Trial(choice, 1.0)
        failed = self._failed_alike(variant)
        if failed is not None:
            return Trial(choice, None, 0.0, f"not tried, since this was not compiled: {failed}")
        try:
            return self._raced(choice, variant)
        except DeviceError:
            if self._reference == self._own:
                raise
            # What ran before does not run any more; the launch as it is may.
            self._reference, self._is_fixed = self._own, True
            return self._raced(choice, variant)

    def _raced(self, choice: Choice, variant: Variant) -> Trial:
        row = self._measurer.compared(variant, self._reference)
        ratio = relative_time(row)
        if ratio is None:
            if not row.code_hash and row.invalidity in (Invalidity.COMPILE, Invalidity.TIMEOUT):
                self._uncompiled.append(variant)
            return Trial(choice, None, row.measure_seconds, row.reason)
        time = self._times[variant] = ratio * self._times[self._reference]
        if ratio <= _MUCH_FASTER and not self._is_fixed:
            self._reference = variant
        return Trial(choice, time, row.measure_seconds)

    def _failed_alike(self, variant: Variant) -> Variant | None:
        """Return a variant that could not be compiled, where another merges as much or more in the same way."""
        return next((failed for failed in self._uncompiled if merges_as_much(variant, failed)), None)


def merges_as_much(variant: Variant, other: Variant) -> bool:
    """Return True if a variant's code is made as another's, and merges at least as many along each dimension."""
    factors = {_kind_of(each): each.factor for each in variant.coarsenings}
    is_made_alike = _made_by(variant) == _made_by(other)
    return is_made_alike and all(factors.get(_kind_of(each), 1) >= each.factor for each in other.coarsenings)


def _made_by(variant: Variant) -> tuple[object, ...]:
    return variant.transforms, variant.any_size, variant.arrays, variant.definitions


def _kind_of(coarsening: Coarsening) -> tuple[int, Level, bool]:
    return coarsening.dimension, coarsening.level, coarsening.stride > 1


def relative_time(row: Measurement) -> float | None:
    """Return how long a configuration takes, relative to its baseline; None of a row that has no time."""
    if row.invalidity is not Invalidity.CORRECT:
        return None
    ran, baseline = median(row.nanoseconds), median(row.baseline_nanoseconds)
    return max(ran, _LEAST_NANOSECONDS) / max(baseline, _LEAST_NANOSECONDS)
