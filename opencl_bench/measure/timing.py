"""Times jobs in turns: the one loop by which everything is timed, and a candidate against its baseline with it.

    baseline, candidate, baseline, candidate, …   until the interval of their ratio is narrow, or the end

Interleaving lets a change of clock or load hit both alike. Looking at the interval while sampling makes it a
little too narrow on average; the minimum of repetitions keeps that small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.measure.machine import Executor, Job
from coarsen.opencl_bench.measure.speedup import bootstrap_interval, median
from coarsen.opencl_bench.records.measurement import Method

# A bootstrap takes milliseconds: not after every repetition.
REPETITIONS_BETWEEN_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Timed:
    """Durations in nanoseconds, as many of the baseline as of the candidate."""

    baseline: tuple[int, ...]
    candidate: tuple[int, ...]


def interleaved(baseline: Callable[[], int], candidate: Callable[[], int], method: Method) -> Timed:
    """Run both in turn, `method.minimum_repetitions` to `method.repetitions` times.

    Args:
        baseline: runs the baseline once and returns its duration in nanoseconds.
        candidate: likewise.
        method: numbers of runs, and the width of the interval at which to stop.
    """

    def known(repetition: int, samples: Sequence[list[int]]) -> bool:
        return _is_known(repetition, samples[0], samples[1], method)

    times = in_turns((baseline, candidate), method.repetitions, method.warm_up, known=known)
    return Timed(tuple(times[0]), tuple(times[1]))


def in_turns(
    runs: Sequence[Callable[[], int]],
    repetitions: int,
    warm_up: int,
    *,
    rotates: bool = False,
    known: Callable[[int, Sequence[list[int]]], bool] | None = None,
) -> list[list[int]]:
    """Run jobs in turns, one after the other in every repetition.

    Args:
        runs: each runs a job once and returns its duration in nanoseconds.
        repetitions: timed runs of each, at most.
        warm_up: runs of each before the first timed one.
        rotates: whether each repetition begins with the next job. In a fixed order each always runs after the
            same predecessor, whose state of the caches biases it.
        known: is given the number of a repetition and all durations after it, and says whether they are enough.

    Returns:
        For each job the durations of its runs in nanoseconds.

    Raises:
        InvalidInputError: no repetition.
    """
    if repetitions < 1:
        raise InvalidInputError(f"the number of repetitions must be at least 1, not {repetitions}")
    samples: list[list[int]] = [[] for _ in runs]
    for repetition in range(1 - warm_up, repetitions + 1):
        first = (repetition - 1) % len(runs) if rotates else 0
        for index in (*range(first, len(runs)), *range(first)):
            nanoseconds = runs[index]()
            if repetition > 0:
                samples[index].append(nanoseconds)
        if repetition > 0 and known is not None and known(repetition, samples):
            break
    return samples


def timed_run(executor: Executor, job: Job, method: Method) -> Callable[[], int]:
    """A run of a job as it is timed: outputs put back and, if asked for, caches flushed before."""

    def run() -> int:
        executor.restore()
        if method.cold_cache:
            executor.flush_caches()
        return job()

    return run


def _is_known(repetition: int, baseline: list[int], candidate: list[int], method: Method) -> bool:
    if repetition < method.minimum_repetitions or repetition % REPETITIONS_BETWEEN_LOOKS:
        return False
    if not median(candidate):
        return False
    low, high = bootstrap_interval(baseline, candidate, method.level)
    return high - low <= method.interval_width * median(baseline) / median(candidate)
