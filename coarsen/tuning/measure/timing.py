"""Times jobs in turns: the one loop by which everything is timed, and a candidate against its baseline with it.

    baseline, candidate, baseline, candidate, …   until the interval of their ratio is narrow, or the end

Interleaving lets a change of clock or load hit both alike. Looking at the interval while sampling makes it a
little too narrow on average; the minimum of repetitions keeps that small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.machine import Durations, Job
from coarsen.tuning.measure.speedup import bootstrap_interval, median
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Clock

if TYPE_CHECKING:
    from coarsen.tuning.measure.opencl_machine import OpenClExecutor

# A bootstrap takes milliseconds: not after every repetition.
REPETITIONS_BETWEEN_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Beside:
    """What else is known of timed runs, in nanoseconds: the sums of their launches, and the host's times.

    Both are empty unless they were timed by their span; `sums` also where the device doesn't tell them.
    """

    sums: tuple[int, ...] = ()
    host: tuple[int, ...] = ()


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, slots=True)
class Timed:
    """Durations in nanoseconds, as many of the baseline as of the candidate."""

    baseline: tuple[int, ...]
    candidate: tuple[int, ...]
    baseline_beside: Beside = NOTHING_BESIDE
    candidate_beside: Beside = NOTHING_BESIDE


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
    known: Callable[[int, Sequence[list[int]]], bool] | None = None,
) -> list[list[int]]:
    """Run jobs in turns, one after the other in every repetition.

    Args:
        runs: each runs a job once and returns its duration in nanoseconds.
        repetitions: timed runs of each, at most.
        warm_up: runs of each before the first timed one.
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
        for run, durations in zip(runs, samples, strict=True):
            nanoseconds = run()
            if repetition > 0:
                durations.append(nanoseconds)
        if repetition > 0 and known is not None and known(repetition, samples):
            break
    return samples


class TimedRun:
    """A run of a job as it is timed: outputs put back and, if asked for, caches flushed before.

    Args:
        executor: has the job's buffers.
        job: what is timed.
        method: says whether caches are flushed.
        clock: by which one.
    """

    def __init__(self, executor: OpenClExecutor, job: Job, method: Method, clock: Clock = Clock.SUM) -> None:
        self._executor = executor
        self._job = job
        self._method = method
        self._clock = clock
        self._durations: list[Durations] = []

    def __call__(self) -> int:
        """Run it once; return its duration in nanoseconds."""
        self._executor.restore()
        if self._method.cold_cache:
            self._executor.flush_caches()
        durations = self._job(self._clock)
        self._durations.append(durations)
        return durations.nanoseconds

    @property
    def beside(self) -> Beside:
        """Return what else is known of the runs after the warm-up."""
        timed = self._durations[self._method.warm_up :]
        return Beside(_all_of([each.sum for each in timed]), _all_of([each.host for each in timed]))


def _all_of(times: Sequence[int | None]) -> tuple[int, ...]:
    """The times; none where one isn't known."""
    known = [time for time in times if time is not None]
    return tuple(known) if len(known) == len(times) else ()


def _is_known(repetition: int, baseline: list[int], candidate: list[int], method: Method) -> bool:
    if repetition < method.minimum_repetitions or repetition % REPETITIONS_BETWEEN_LOOKS:
        return False
    if not median(candidate):
        return False
    low, high = bootstrap_interval(baseline, candidate, method.level)
    return high - low <= method.interval_width * median(baseline) / median(candidate)
