"""Times a candidate and its baseline in turns: the one loop by which everything is timed.

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
class Timed:
    """Durations in nanoseconds, one per repetition, by the names that they have in a `Measurement`.

    The sums of launches and the host's times are empty unless runs were timed by their span.
    """

    nanoseconds: tuple[int, ...] = ()
    baseline_nanoseconds: tuple[int, ...] = ()
    sum_nanoseconds: tuple[int, ...] = ()
    host_nanoseconds: tuple[int, ...] = ()
    baseline_sum_nanoseconds: tuple[int, ...] = ()
    baseline_host_nanoseconds: tuple[int, ...] = ()


def interleaved(baseline: Callable[[], Durations], candidate: Callable[[], Durations], method: Method) -> Timed:
    """Run both in turn, `method.minimum_repetitions` to `method.repetitions` times.

    Args:
        baseline: runs the baseline once.
        candidate: likewise.
        method: numbers of runs, and the width of the interval at which to stop.

    Raises:
        InvalidInputError: no repetition.
    """
    if method.repetitions < 1:
        raise InvalidInputError(f"the number of repetitions must be at least 1, not {method.repetitions}")
    before: list[Durations] = []
    after: list[Durations] = []
    for repetition in range(1 - method.warm_up, method.repetitions + 1):
        pair = baseline(), candidate()
        if repetition > 0:
            before.append(pair[0])
            after.append(pair[1])
            if _is_known(repetition, _all_of(before, "nanoseconds"), _all_of(after, "nanoseconds"), method):
                break
    return Timed(
        *(_all_of(runs, "nanoseconds") for runs in (after, before)),
        *(_all_of(runs, name) for runs in (after, before) for name in ("sum", "host")),
    )


def timed_run(executor: OpenClExecutor, job: Job, method: Method, clock: Clock) -> Durations:
    """Run a job once as it is timed: outputs put back and, if asked for, caches flushed before.

    Args:
        executor: has the job's buffers.
        job: what is timed.
        method: says whether caches are flushed.
        clock: by which one.
    """
    executor.restore()
    if method.cold_cache:
        executor.flush_caches()
    return job(clock)


def _all_of(runs: Sequence[Durations], name: str) -> tuple[int, ...]:
    return tuple(time for each in runs if (time := getattr(each, name)) is not None)


def _is_known(repetition: int, baseline: Sequence[int], candidate: Sequence[int], method: Method) -> bool:
    if repetition < method.minimum_repetitions or repetition % REPETITIONS_BETWEEN_LOOKS:
        return False
    if not median(candidate):
        return False
    low, high = bootstrap_interval(baseline, candidate, method.level)
    return high - low <= method.interval_width * median(baseline) / median(candidate)
