"""An evaluator that times variants of a launch against the fastest of them so far.

    choice ──▶ variant ──▶ row, timed in turns with the reference ──▶ its time, times that of the reference

In turns with a launch that is ten times as slow, nearly all the time would go to that. So a variant that is much
faster takes its place as the reference; a trial's time stays relative to the launch as it is.

What is not compiled, since it is refused or takes too long, is not asked for again in kind: of variants made
alike, one that merges as much or more fails in the same way, after as much time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait

from coarsen.errors import DeviceError
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.search.evaluator import RememberingEvaluator, Trial
from coarsen.opencl_bench.search.spaces import Choice
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace
from coarsen.opencl_bench.sweep.live_evaluator import relative_time
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

# A variant becomes the reference if it takes at most so much of the reference's time: each change adds its noise.
_MUCH_FASTER = 0.7


class RacingEvaluator(RememberingEvaluator):
    """Measures variants of a launch; trials' times are relative to the launch as it is, whose time is 1.

    Args:
        measurer: gives the rows.
        own: the launch as it is, which was measured before.
        space: the choices that may be tried.
        time_left: the seconds that are left for trying.
        told: is called before each that is tried.
    """

    def __init__(
        self,
        measurer: RowMeasurer,
        own: Variant,
        space: VariantSearchSpace,
        time_left: Callable[[], float],
        told: Callable[[RacingEvaluator], None] | None = None,
    ) -> None:
        super().__init__(space)
        self._measurer = measurer
        self._own = own
        self._variants = space
        self._time_left = time_left
        self._told = told
        self._reference = own
        self._is_fixed = False
        self._times = {own: 1.0}
        self._uncompiled: list[Variant] = []

    @property
    def gains(self) -> Mapping[Variant, float]:
        """Return how many times as fast as the launch as it is each variant was that ran correctly."""
        return {variant: 1 / time for variant, time in self._times.items()}

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Compile choices on all processors, and wait for that as long as there is time."""
        codes = self._measurer.context.codes
        variants = [self._variants.variant(choice) for choice in choices]
        wanted = [variant for variant in variants if self._failed_alike(variant) is None]
        wait([codes.ahead(variant) for variant in wanted], timeout=self._time_left())

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        if self._told is not None:
            self._told(self)
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
    is_made_alike = (variant.transforms, variant.any_size, variant.arrays, variant.definitions) == (
        other.transforms,
        other.any_size,
        other.arrays,
        other.definitions,
    )
    return is_made_alike and all(factors.get(_kind_of(each), 1) >= each.factor for each in other.coarsenings)


def _kind_of(coarsening: Coarsening) -> tuple[int, Level, bool]:
    return coarsening.dimension, coarsening.level, coarsening.stride > 1
