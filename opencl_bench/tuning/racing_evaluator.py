"""An evaluator that times variants of a launch against the fastest of them so far.

    choice ──▶ variant ──▶ row, timed in turns with the reference ──▶ its time, times that of the reference

In turns with a launch that is ten times as slow, nearly all the time would go to that. So a variant that is much
faster takes its place as the reference; a trial's time stays relative to the launch as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait

from coarsen.errors import DeviceError
from coarsen.opencl_bench.search.evaluator import RememberingEvaluator, Trial
from coarsen.opencl_bench.search.spaces import Choice
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace
from coarsen.opencl_bench.sweep.live_evaluator import relative_time
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
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

    @property
    def gains(self) -> Mapping[Variant, float]:
        """Return how many times as fast as the launch as it is each variant was that ran correctly."""
        return {variant: 1 / time for variant, time in self._times.items()}

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Compile choices on all processors, and wait for that as long as there is time."""
        codes = self._measurer.context.codes
        wait([codes.ahead(self._variants.variant(choice)) for choice in choices], timeout=self._time_left())

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        if self._told is not None:
            self._told(self)
        if variant == self._own:
            return Trial(choice, 1.0)
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
            return Trial(choice, None, row.measure_seconds, row.reason)
        time = self._times[variant] = ratio * self._times[self._reference]
        if ratio <= _MUCH_FASTER and not self._is_fixed:
            self._reference = variant
        return Trial(choice, time, row.measure_seconds)
