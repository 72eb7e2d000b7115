"""Methods of timing the variants of a launch: in few runs in the search, in more when the best are timed again."""

from __future__ import annotations

from dataclasses import replace

from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.sweep.confirmation import PROCESSES
from coarsen.opencl_bench.tuning.deadline import Deadline

# A compilation and a run that hangs take at most so many seconds, and so much of the time.
_COMPILE_SECONDS = 60.0
_LEAST_COMPILE_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_HUNG_SHARE = 0.25
# By the seconds of a run, at least: the most runs of a variant, the fewest, and those before them.
_RUNS = ((0.1, 2, 2, 0), (0.02, 4, 2, 0), (0.0, 9, 3, 1))
_MOST_REPETITIONS = 40
_LEAST_REPETITIONS = 5


def search_method(seconds: float, run_seconds: float = 0.0) -> Method:
    """Return how variants are timed in a search: few runs tell which is worth more of them.

    Args:
        seconds: that all may take.
        run_seconds: of a run of the launch as it is, as far as that is known.
    """
    most, least, warm_up = next(runs for longer, *runs in _RUNS if run_seconds >= longer)
    return Method(
        repetitions=most,
        minimum_repetitions=least,
        warm_up=warm_up,
        interval_width=0.05,
        timeout_multiple=3,
        grace_seconds=min(_GRACE_SECONDS, _HUNG_SHARE * seconds),
        compile_seconds=min(_COMPILE_SECONDS, max(_LEAST_COMPILE_SECONDS, _HUNG_SHARE * seconds)),
    )


def confirming_method(seconds: float, variants: int, deadline: Deadline) -> Method:
    """Return how finalists are timed: as often as half of the time that is left allows.

    Args:
        seconds: of a run of the launch as it is.
        variants: the number of finalists.
        deadline: when all has to be over.
    """
    runs = deadline.left / 2 / PROCESSES / variants / (2 * max(seconds, 1e-6))
    repetitions = min(_MOST_REPETITIONS, max(_LEAST_REPETITIONS, int(runs)))
    return replace(
        search_method(deadline.seconds, seconds),
        repetitions=repetitions,
        minimum_repetitions=min(_LEAST_REPETITIONS, repetitions),
        interval_width=0.01,
    )
