"""Baseline and candidate take turns, until their ratio is known well enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.machine import Durations, Job
from coarsen.tuning.measure.timing import Beside, TimedRun, in_turns, interleaved
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Array, Clock, Launch
from coarsen.variant.variant import Variant

METHOD = Method(repetitions=50, minimum_repetitions=9, warm_up=2, interval_width=0.02)


class Runs:
    """Two kernels whose durations are drawn from normal distributions."""

    def __init__(self, spread: float) -> None:
        self._generator = np.random.default_rng(7)
        self._spread = spread
        self.order: list[str] = []

    def run(self, name: str, nanoseconds: float) -> Callable[[], int]:
        def once() -> int:
            self.order.append(name)
            return int(self._generator.normal(nanoseconds, self._spread * nanoseconds))

        return once


def test_they_take_turns_after_the_warm_up() -> None:
    runs = Runs(0.5)
    timed = interleaved(runs.run("baseline", 1e6), runs.run("candidate", 1e6), METHOD)
    assert runs.order == ["baseline", "candidate"] * (2 + 50)
    assert len(timed.baseline) == len(timed.candidate) == 50


def test_each_job_runs_once_in_every_repetition() -> None:
    order: list[str] = []

    def recorded(name: str) -> Callable[[], int]:
        def run() -> int:
            order.append(name)
            return len(order)

        return run

    samples = in_turns([recorded(name) for name in "abc"], 3, 2)
    assert "".join(order) == "abc" * 5
    assert samples == [[7, 10, 13], [8, 11, 14], [9, 12, 15]]


def test_no_repetition_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="repetitions must be at least 1, not 0"):
        in_turns([], 0, 0)


def test_steady_times_stop_early_but_not_before_the_minimum() -> None:
    runs = Runs(0.0)
    timed = interleaved(runs.run("baseline", 2e6), runs.run("candidate", 1e6), METHOD)
    assert len(timed.candidate) == METHOD.minimum_repetitions
    assert set(timed.baseline) == {2_000_000}
    assert set(timed.candidate) == {1_000_000}


def test_how_narrow_is_enough_decides_how_long_it_takes() -> None:
    def repetitions(width: float) -> int:
        runs = Runs(0.05)
        method = replace(METHOD, interval_width=width)
        return len(interleaved(runs.run("baseline", 2e6), runs.run("candidate", 1e6), method).candidate)

    assert repetitions(0.5) == METHOD.minimum_repetitions
    assert METHOD.minimum_repetitions < repetitions(0.06) < METHOD.repetitions
    assert repetitions(0.001) == METHOD.repetitions


def test_durations_of_zero_are_no_reason_to_stop() -> None:
    timed = interleaved(lambda: 0, lambda: 0, METHOD)
    assert len(timed.candidate) == METHOD.repetitions


class Recorder:
    """An executor that writes down what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        raise NotImplementedError

    def restore(self) -> None:
        self.calls.append("restore")

    def reset(self) -> None:
        self.calls.append("reset")

    def outputs(self) -> dict[str, Array]:
        return {}

    def violated(self) -> tuple[str, ...]:
        return ()

    def flush_caches(self) -> None:
        self.calls.append("flush")

    def job(self, clock: Clock) -> Durations:
        self.calls.append("run")
        return Durations(2) if clock is Clock.SUM else Durations(5, 2, 9 + len(self.calls))


def test_outputs_are_put_back_before_each_run_and_caches_flushed_where_asked() -> None:
    warm, cold = Recorder(), Recorder()
    assert TimedRun(warm, warm.job, METHOD)() == 2
    TimedRun(cold, cold.job, replace(METHOD, cold_cache=True))()
    assert warm.calls == ["restore", "run"]
    assert cold.calls == ["restore", "flush", "run"]


def test_each_of_all_runs_in_turns_has_a_flush_of_its_own() -> None:
    recorder = Recorder()
    method = replace(METHOD, cold_cache=True, warm_up=2)
    timed = interleaved(TimedRun(recorder, recorder.job, method), TimedRun(recorder, recorder.job, method), method)
    runs = 2 * (method.warm_up + len(timed.candidate))
    assert recorder.calls == ["restore", "flush", "run"] * runs


def test_sums_and_times_of_the_host_stand_beside_a_span() -> None:
    recorder = Recorder()
    run = TimedRun(recorder, recorder.job, replace(METHOD, warm_up=1), Clock.SPAN)
    assert [run() for _ in range(3)] == [5, 5, 5]
    # The first one warmed up.
    assert run.beside == Beside((2, 2), (13, 15))


def test_a_sum_that_one_run_lacks_is_of_no_use() -> None:
    times = iter([Durations(5, 2, 9), Durations(5, None, 9)])
    run = TimedRun(Recorder(), lambda _clock: next(times), replace(METHOD, warm_up=0), Clock.SPAN)
    assert [run(), run()] == [5, 5]
    assert run.beside == Beside((), (9, 9))
