"""A sweep on a real device: every configuration a row, none measured twice, nothing lost when it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.devices.selection import find_device
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.results.best import best_row
from coarsen.opencl_bench.sweep.several import SweepResult, planned_rows, sweep
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import Space, limits_of
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.processes import compiler
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.processes.measuring_process import Limits, MeasuringProcess, Outcome, Ready
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Role
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.variant_json import variant_from_json
from tests.opencl_bench.sweep.small_sweep import METHOD, small_plan

ROOT = Path(__file__).parents[3]
DEVICE = "intel"
# Uncoarsened: two; coarsened: two local sizes × three factors × two strides; selection: two.
COMPARISONS = 2 + 12
# In each of three processes: the three fastest, the baseline and the other launch.
CONFIRMATIONS = 3 * (3 + 2)
UNCONFIRMED = COMPARISONS + 2
ROWS = UNCONFIRMED + CONFIRMATIONS


class Watcher(SweepObserver):
    def __init__(self) -> None:
        self.told: list[tuple[str, bool]] = []
        self.configurations = 0

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        self.configurations = configurations

    def stored(self, measurement: Measurement, measured: bool) -> None:
        self.told.append((measurement.key, measured))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "results.sqlite")) as opened:
        yield opened


@dataclass(frozen=True)
class Whole:
    """A sweep of all of the small plan; `started` says after how many rows a new process was."""

    store: Store
    summary: SweepResult
    watcher: Watcher
    started: tuple[int, ...]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """What the tests that only look at a sweep share."""
    started: list[int] = []
    start_afresh = MeasuringProcess.start_afresh
    path = tmp_path_factory.mktemp("whole") / "results.sqlite"
    with open_store(str(path)) as store, pytest.MonkeyPatch.context() as patched:

        def count(process: MeasuringProcess) -> None:
            started.append(store.count())
            start_afresh(process)

        patched.setattr(MeasuringProcess, "start_afresh", count)
        watcher = Watcher()
        summary = sweep(small_plan(DEVICE, confirms=True), store, watcher)
        patched.undo()
        yield Whole(store, summary, watcher, tuple(started))


def failures(result: SweepResult) -> Counter[Invalidity]:
    return Counter(row.invalidity for row in result.rows if row.invalidity is not Invalidity.CORRECT)


def speedup_of(row: Measurement) -> float:
    return median(row.baseline_nanoseconds) / median(row.nanoseconds)


def test_every_configuration_is_a_row(whole: Whole) -> None:
    store, summary, watcher = whole.store, whole.summary, whole.watcher
    assert not summary.problem
    assert len(summary.measured) == len(summary.feasible_rows)
    assert len(summary.rows) == watcher.configurations == ROWS
    assert {row.key for row in store.measurements()} == {row.key for row in summary.rows}
    assert watcher.told == [(row.key, True) for row in summary.rows]
    compared = [row for row in summary.rows if row.role is Role.COMPARISON]
    assert len({row.candidate for row in compared}) == COMPARISONS
    # 64 divides no local size; a stride of 8 does not divide 8 / 2, 8 / 4.
    failures = Counter(row.invalidity for row in compared)
    assert failures == {Invalidity.CORRECT: 8, Invalidity.CONSTRAINTS: 6}
    for row in compared:
        if row.invalidity is Invalidity.CORRECT:
            assert row.oracle is CheckedAgainst.REFERENCE
            assert METHOD.minimum_repetitions <= len(row.nanoseconds) == len(row.baseline_nanoseconds)
            assert row.timed_seconds <= row.measure_seconds
        else:
            assert "does not divide" in row.reason
            assert not row.nanoseconds


def test_the_baseline_is_the_best_uncoarsened_local_size(whole: Whole) -> None:
    rows = whole.summary.rows
    selection = [row for row in rows if row.role is Role.SELECTION]
    best = max(selection, key=speedup_of).candidate
    assert {row.baseline for row in rows if row.role is Role.COMPARISON} == {best}
    # The first is compared with itself, the others with the first.
    assert {row.baseline for row in selection} == {selection[0].candidate}


def test_the_best_and_the_baseline_are_confirmed_with_new_samples_in_new_processes(whole: Whole) -> None:
    rows, first = whole.summary.rows, UNCONFIRMED
    assert whole.started == (first, first + 5, first + 10)
    compared = [row for row in rows if row.role is Role.COMPARISON and row.nanoseconds]
    coarsened = sorted((row for row in compared if row.candidate.coarsenings), key=speedup_of, reverse=True)
    launches = [row for row in compared if not row.candidate.coarsenings]
    confirmed = [row for row in rows if row.role is Role.CONFIRMATION]
    for invocation in range(3):
        own = [row for row in confirmed if row.invocation == invocation]
        assert {row.candidate for row in own} == {row.candidate for row in (*coarsened[:3], *launches)}
        assert {row.baseline for row in own} == {compared[0].baseline}
    assert len({row.nanoseconds for row in (*confirmed, *compared)}) == len(confirmed) + len(compared)


def test_what_fails_in_one_process_is_not_timed_in_the_next(
    store: Store, pool: CompilePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Space(factors=(1, 2, 4), strides=(1,), dimensions=(1,), local_sizes=((8, 8),))
    measure, starts = MeasuringProcess.measure, []
    monkeypatch.setattr(MeasuringProcess, "start_afresh", lambda _process: starts.append(True))

    def measured(process: MeasuringProcess, ready: Ready, baseline: Ready, limits: Limits) -> Outcome:
        if len(starts) == 2 and ready.candidate.factor == 2:
            return Outcome(invalidity=Invalidity.CORRECTNESS, reason="planted")
        return measure(process, ready, baseline, limits)

    monkeypatch.setattr(MeasuringProcess, "measure", measured)
    rows = sweep(small_plan(DEVICE, space=space, confirms=True), store, pool=pool).rows
    confirmed = [(row.invocation, row.invalidity) for row in rows if row.role is Role.CONFIRMATION]
    assert Counter(confirmed) == {
        (0, Invalidity.CORRECT): 3,
        (1, Invalidity.CORRECT): 2,
        (1, Invalidity.CORRECTNESS): 1,
        (2, Invalidity.CORRECT): 2,
    }
    best = best_row(rows)
    assert best is not None and best.candidate.factor != 2


def test_the_best_is_not_confirmed_where_that_is_not_wanted(store: Store, pool: CompilePool) -> None:
    watcher, plan = Watcher(), small_plan(DEVICE)
    rows = sweep(plan, store, watcher, pool=pool).rows
    assert Counter(row.role for row in rows) == {Role.SELECTION: 2, Role.COMPARISON: COMPARISONS}
    assert len(rows) == watcher.configurations == UNCONFIRMED
    # What the progress bar counts, in which the six that break a constraint have no part.
    for confirms, expected in ((False, UNCONFIRMED - 6), (True, ROWS - 6)):
        wanted = replace(plan, confirms=confirms)
        assert planned_rows(SUITE["mt"], wanted, limits_of(find_device(DEVICE))) == expected


def test_a_second_sweep_measures_nothing(whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    monkeypatch.setattr(MeasuringProcess, "start_afresh", lambda _process: started.append(True))
    second = sweep(small_plan(DEVICE, confirms=True), whole.store)
    assert (second.measured, started) == (frozenset(), [])
    assert second.rows == whole.summary.rows
    assert whole.store.count() == ROWS


def test_everything_can_be_measured_again(store: Store, pool: CompilePool) -> None:
    space = Space(factors=(1, 2), strides=(1,), dimensions=(1,), local_sizes=((8, 8),))
    plan = small_plan(DEVICE, space=space, confirms=True)
    first = sweep(plan, store, pool=pool)
    second = sweep(plan, store, again=Remeasure.EVERYTHING, pool=pool)
    assert len(second.measured) == len(first.rows)
    # There is one coarsened configuration, which is confirmed whatever it is worth.
    assert store.count() == len(first.rows) == 2 + 1 + 3 * 2
    assert {row.nanoseconds for row in first.rows} != {row.nanoseconds for row in second.rows}


def test_other_sizes_and_methods_are_other_rows(store: Store, pool: CompilePool) -> None:
    space = Space(factors=(1,), local_sizes=((8, 8),))
    plan = small_plan(DEVICE, space=space)
    keys = {row.key for row in sweep(plan, store, pool=pool).rows}
    for changed in (replace(plan, seed=1), small_plan(DEVICE, "sgemm", space)):
        assert keys.isdisjoint(row.key for row in sweep(changed, store, pool=pool).rows)


def test_a_local_size_that_the_algorithm_cannot_use_is_a_row(store: Store, pool: CompilePool) -> None:
    plan = small_plan(DEVICE, "reduce", Space(factors=(1, 2), strides=(1,), local_sizes=((128,), (96,))))
    rows = sweep(plan, store, pool=pool).rows
    violated = [row for row in rows if row.invalidity is Invalidity.CONSTRAINTS]
    assert {row.candidate.local_size for row in violated} == {(96,)}
    assert all("does not hold for local_size_0 = 96" in row.reason for row in violated)


def test_a_compiler_that_crashes_or_hangs_costs_its_configurations_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(compiler, "SERVICE", "tests.opencl_bench.sweep.crashing_compile_service")
    ask = CompilePool.ask

    def impatient(self: CompilePool, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        # The one that hangs need not be waited for; on a busy machine the others take as long as they do.
        hangs = request["do"] == "compile" and variant_from_json(request["candidate"]).factor == 4
        return ask(self, request, 0.5 if hangs else seconds)

    monkeypatch.setattr(CompilePool, "ask", impatient)
    space = Space(factors=(1, 2, 4, 8), strides=(1,), dimensions=(1,), local_sizes=((8, 8),))
    rows = sweep(small_plan(DEVICE, space=space), store).rows
    found = {row.candidate.factor: row for row in rows if row.role is Role.COMPARISON}
    assert found[1].invalidity is found[8].invalidity is Invalidity.CORRECT
    assert found[2].invalidity is Invalidity.COMPILE
    assert "died of signal SIGKILL" in found[2].reason
    assert found[4].invalidity is Invalidity.TIMEOUT
    assert found[4].reason == f"not compiled within {METHOD.compile_seconds:g} s"


def test_failures_can_be_measured_again(store: Store, pool: CompilePool, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(factors=(1, 2), strides=(1,), dimensions=(1,), local_sizes=((8, 8),))
    plan = small_plan(DEVICE, space=space, confirms=True)
    with monkeypatch.context() as patched:
        patched.chdir(ROOT)
        patched.setattr(compiler, "SERVICE", "tests.opencl_bench.sweep.crashing_compile_service")
        first = sweep(plan, store)
    assert failures(first) == {Invalidity.COMPILE: 1}
    assert not sweep(plan, store, pool=pool).measured
    mended = sweep(plan, store, again=Remeasure.FAILED, pool=pool)
    assert not failures(mended)
    # What had failed is measured in place of its failure, and then confirmed.
    assert len(mended.measured) == 1 + 3
    assert store.count() == len(first.rows) + 3


def test_two_sweeps_at_once_share_the_work(store: Store) -> None:
    plan = small_plan(DEVICE, space=Space((1, 2, 4), (1,), (1,), ((8, 8),)))
    watchers = Watcher(), Watcher()
    with ThreadPoolExecutor() as pool:
        one, two = pool.map(lambda watcher: sweep(plan, store, watcher), watchers)
    stored = {row.key: row for row in store.measurements()}
    for summary in (one, two):
        assert not summary.problem
        assert {row.key: row for row in summary.rows} == stored, "both tell what the store holds"
    measured = [key for watcher in watchers for key, was_measured in watcher.told if was_measured]
    assert sorted(measured) == sorted(stored), "no row was measured twice"


def test_unknown_things_are_errors(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="no benchmark 'nothing'"):
        sweep(small_plan(DEVICE, "nothing"), store)
    with pytest.raises(DeviceError, match="no OpenCL device is called 'nowhere'"):
        sweep(small_plan("nowhere"), store)


def test_a_home_that_cannot_be_written_to_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), "/proc/nowhere")
    command = [sys.executable, "-m", "tests.opencl_bench.sweep.small_sweep", str(path), DEVICE]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **nowhere}, check=True, timeout=100)
    with open_store(str(path)) as store:
        fine = (Invalidity.CORRECT, Invalidity.CONSTRAINTS)
        assert [row.reason for row in store.measurements() if row.invalidity not in fine] == []
        assert store.count() == UNCONFIRMED


@pytest.mark.parametrize("rows_before", [1, 5])
def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path, rows_before: int) -> None:
    path = tmp_path / "results.sqlite"
    command = [sys.executable, "-m", "tests.opencl_bench.sweep.small_sweep", str(path), DEVICE]
    with subprocess.Popen(command, cwd=ROOT) as process, open_store(str(path)) as store:
        deadline = time.monotonic() + 600
        while store.count() < rows_before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
    with open_store(str(path)) as store:
        stored = store.count()
        assert rows_before <= stored < UNCONFIRMED, "it was to be killed half-way"
        before = {row.key: row for row in store.measurements()}
        watcher = Watcher()
        sweep(small_plan(DEVICE), store, watcher)
        assert sum(told for _, told in watcher.told) == UNCONFIRMED - stored
        after = {row.key: row for row in store.measurements()}
    assert len(after) == UNCONFIRMED
    assert {key: after[key] for key in before} == before
