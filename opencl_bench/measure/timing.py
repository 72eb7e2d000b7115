"""Times a candidate against its baseline until it is known well enough.

    baseline, candidate, baseline, candidate, …   until the interval of their ratio is narrow, or the end

Interleaving lets a change of clock or load hit both alike. Looking at the interval while sampling makes it a
little too narrow on average; the minimum of repetitions keeps that small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    for _ in range(method.warm_up):
        baseline()
        candidate()
    samples: tuple[list[int], list[int]] = ([], [])
    for repetition in range(1, method.repetitions + 1):
        samples[0].append(baseline())
        samples[1].append(candidate())
        if _is_known(repetition, samples[0], samples[1], method):
            break
    return Timed(tuple(samples[0]), tuple(samples[1]))


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
