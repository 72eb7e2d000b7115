"""Baseline and candidate take turns, until their ratio is known well enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.machine import Durations
from coarsen.tuning.measure.opencl_machine import OpenClExecutor
from coarsen.tuning.measure.timing import interleaved, timed_run
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Clock

METHOD = Method(repetitions=50, minimum_repetitions=9, warm_up=2, interval_width=0.02)


class Runs:
    """Two kernels whose durations are drawn from normal distributions."""

    def __init__(self, spread: float) -> None:
        self._generator = np.random.default_rng(7)
        self._spread = spread
        self.order: list[str] = []

    def run(self, name: str, nanoseconds: float) -> Callable[[], Durations]:
        def once() -> Durations:
            self.order.append(name)
            return Durations(int(self._generator.normal(nanoseconds, self._spread * nanoseconds)))

        return once


def test_they_take_turns_after_the_warm_up() -> None:
    runs = Runs(0.5)
    timed = interleaved(runs.run("baseline", 1e6), runs.run("candidate", 1e6), METHOD)
    assert runs.order == ["baseline", "candidate"] * (2 + 50)
    assert len(timed.baseline_nanoseconds) == len(timed.nanoseconds) == 50


def test_no_repetition_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="repetitions must be at least 1, not 0"):
        interleaved(lambda: Durations(1), lambda: Durations(1), replace(METHOD, repetitions=0))


def test_steady_times_stop_early_but_not_before_the_minimum() -> None:
    runs = Runs(0.0)
    timed = interleaved(runs.run("baseline", 2e6), runs.run("candidate", 1e6), METHOD)
    assert len(timed.nanoseconds) == METHOD.minimum_repetitions
    assert set(timed.baseline_nanoseconds) == {2_000_000}
    assert set(timed.nanoseconds) == {1_000_000}


def test_how_narrow_is_enough_decides_how_long_it_takes() -> None:
    def repetitions(width: float) -> int:
        runs = Runs(0.05)
        method = replace(METHOD, interval_width=width)
        return len(interleaved(runs.run("baseline", 2e6), runs.run("candidate", 1e6), method).nanoseconds)

    assert repetitions(0.5) == METHOD.minimum_repetitions
    assert METHOD.minimum_repetitions < repetitions(0.06) < METHOD.repetitions
    assert repetitions(0.001) == METHOD.repetitions


def test_durations_of_zero_are_no_reason_to_stop() -> None:
    timed = interleaved(lambda: Durations(0), lambda: Durations(0), METHOD)
    assert len(timed.nanoseconds) == METHOD.repetitions


class Recorder(OpenClExecutor):
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def restore(self) -> None:
        self.calls.append("restore")

    def flush_caches(self) -> None:
        self.calls.append("flush")

    def job(self, clock: Clock) -> Durations:
        self.calls.append("run")
        return Durations(2) if clock is Clock.SUM else Durations(5, 2, 9 + len(self.calls))


def test_outputs_are_put_back_before_each_run_and_caches_flushed_where_asked() -> None:
    warm, cold = Recorder(), Recorder()
    assert timed_run(warm, warm.job, METHOD, Clock.SUM) == Durations(2)
    timed_run(cold, cold.job, replace(METHOD, cold_cache=True), Clock.SUM)
    assert warm.calls == ["restore", "run"]
    assert cold.calls == ["restore", "flush", "run"]


def test_each_of_all_runs_in_turns_has_a_flush_of_its_own() -> None:
    recorder = Recorder()
    method = replace(METHOD, cold_cache=True, warm_up=2)
    run = partial(timed_run, recorder, recorder.job, method, Clock.SUM)
    timed = interleaved(run, run, method)
    runs = 2 * (method.warm_up + len(timed.nanoseconds))
    assert recorder.calls == ["restore", "flush", "run"] * runs


def test_sums_and_times_of_the_host_stand_beside_a_span() -> None:
    recorder = Recorder()
    method = replace(METHOD, warm_up=1, repetitions=2)
    run = partial(timed_run, recorder, recorder.job, method, Clock.SPAN)
    timed = interleaved(run, run, method)
    assert timed.nanoseconds == timed.baseline_nanoseconds == (5, 5)
    assert timed.sum_nanoseconds == timed.baseline_sum_nanoseconds == (2, 2)
    # The first of each warmed up.
    assert (timed.baseline_host_nanoseconds, timed.host_nanoseconds) == ((15, 19), (17, 21))
