"""Methods of timing the variants of a launch: in few runs in the search, in more when the best are timed again."""

from __future__ import annotations

from dataclasses import replace

from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.sweep.rows import PROCESSES
from coarsen.opencl_bench.tuning.deadline import Deadline

# A compilation and a run that hangs take at most so many seconds, and so much of the time.
_COMPILE_SECONDS = 60.0
_LEAST_COMPILE_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_HUNG_SHARE = 0.25
# A variant takes at most so many times as long to compile as the launch as it is, or such a share of the time.
_COMPILE_TIMES = 8
_COMPILE_SHARE = 0.15
# By the seconds of a run, at least: the most runs of a variant, the fewest, and those before them.
_RUNS = ((0.1, 2, 2, 0), (0.02, 4, 2, 0), (0.0, 9, 3, 1))
_MOST_REPETITIONS = 40
_LEAST_REPETITIONS = 5
# Of runs that take so many seconds, fewer are enough.
_LONG_RUN = 0.05
_LEAST_LONG_REPETITIONS = 3
# Of all the time, what timing the best again may be given, least and most.
_LEAST_CONFIRMING_SHARE = 0.15
_MOST_CONFIRMING_SHARE = 0.3
# How many times as long as the launch as it is took in the search the finalists take in one process.
_FINALISTS_TIMES = 1.5


def first_method(seconds: float) -> Method:
    """Return how a launch is timed whose duration nobody knows yet: in few runs, since they may be long.

    Args:
        seconds: that all may take.
    """
    return replace(search_method(seconds), repetitions=2, minimum_repetitions=2, warm_up=0)


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
        timeout_multiple=2,
        grace_seconds=min(_GRACE_SECONDS, _HUNG_SHARE * seconds),
        compile_seconds=min(_COMPILE_SECONDS, max(_LEAST_COMPILE_SECONDS, _HUNG_SHARE * seconds)),
    )


def compiling_method(method: Method, seconds: float, own_seconds: float) -> Method:
    """Return a search's method with what its variants may take to compile, since others could be tried meanwhile.

    Args:
        method: of the search.
        seconds: that all may take.
        own_seconds: that the launch as it is took to compile.
    """
    limit = max(_COMPILE_TIMES * own_seconds, _COMPILE_SHARE * seconds)
    return replace(method, compile_seconds=min(limit, method.compile_seconds))


def confirming_method(seconds: float, variants: int, deadline: Deadline) -> Method:
    """Return how finalists are timed: as often as half of the time that is left allows.

    Args:
        seconds: of a run of the launch as it is.
        variants: the number of finalists.
        deadline: when all has to be over.
    """
    runs = deadline.left / 2 / PROCESSES / variants / (2 * max(seconds, 1e-6))
    least = _LEAST_LONG_REPETITIONS if seconds >= _LONG_RUN else _LEAST_REPETITIONS
    repetitions = min(_MOST_REPETITIONS, max(least, int(runs)))
    return replace(
        search_method(deadline.seconds, seconds),
        repetitions=repetitions,
        minimum_repetitions=min(least, repetitions),
        interval_width=0.01,
    )


def confirming_seconds(seconds: float, opening_seconds: float, own_seconds: float) -> float:
    """Return how long before the end a search is over, so that the best can be timed again in new processes.

    Args:
        seconds: that all may take.
        opening_seconds: that it took to start a process.
        own_seconds: that it took to verify and time the launch as it is.
    """
    needed = 2 * opening_seconds + PROCESSES * _FINALISTS_TIMES * own_seconds
    return min(max(needed, _LEAST_CONFIRMING_SHARE * seconds), _MOST_CONFIRMING_SHARE * seconds)
