"""The line that long work shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coarsen.cli.messages import logging_to_stderr
from coarsen.cli.progress import Fits, Tally, duration, rows_per_minute, watching
from coarsen.opencl_bench.sweep.several import SweepResult
from coarsen.tuning.engine.observer import SearchProgress
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.records.measurement import Invalidity
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

CORRECT = some_measurement()
FAILED = some_measurement(invalidity=Invalidity.RUNTIME, reason="lost")
IMPOSSIBLE = some_measurement(invalidity=Invalidity.CONSTRAINTS, reason="too large")
PLAN, OTHER_PLAN = SweepPlan("mt", "intel"), SweepPlan("mt", "pocl")
RESULT = SweepResult(PLAN, "mt", "2:0 AMD EPYC", (CORRECT, FAILED, IMPOSSIBLE), frozenset({CORRECT.key}), 75.0)


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def after_a_minute(tally: Tally, clock: Watch) -> None:
    """Four rows of ten in a minute: one found, three measured, one of them a failure; and a broken constraint."""
    tally.planned("mt", "2:0 AMD EPYC", 10)
    rows = ((CORRECT, False), (CORRECT, True), (CORRECT, True), (FAILED, True), (IMPOSSIBLE, True))
    for measurement, measured in rows:
        tally.measuring("mt", Variant((32, 32)))
        tally.stored(measurement, measured)
    clock.seconds += 60


def test_the_line_of_a_sweep() -> None:
    clock = Watch()
    tally = Tally({PLAN: 10}, clock)
    assert str(tally) == "0 of 10 rows, 0 rows/min"
    after_a_minute(tally, clock)
    figures = "4 of 10 rows, 3 rows/min, about 2 min left, 1 failed"
    assert str(tally) == f"{figures}, mt: {Variant((32, 32))}, best so far 2.00: {CORRECT.candidate}"
    tally.planned("reduce", "2:0 AMD EPYC", 10)
    assert "best so far" not in str(tally)


def test_what_will_not_come_is_counted_out(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally({PLAN: 10, OTHER_PLAN: 15})
    tally.planned("mt", "2:0 AMD EPYC", 10)
    with logging_to_stderr():
        for measurement in RESULT.rows:
            tally.stored(measurement, True)
        tally.finished(RESULT)
    assert (tally.rows, tally.total) == (2, 17)
    said = "mt on intel: 2 rows, 1 of them measured in 1 min, 1 failed, 1 broke a constraint"
    assert capsys.readouterr().err.strip() == f"coarsen: note: {said}"


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Watch()
    with logging_to_stderr(), watching(Tally({PLAN: 10}, clock)) as tally:
        after_a_minute(tally, clock)
        for _ in range(3):
            tally.measuring("mt", Variant((16, 16)))
    (said,) = capsys.readouterr().err.splitlines()
    progress = "4 of 10 rows, 3 rows/min, about 2 min left, 1 failed, mt: uncoarsened, local size 16×16"
    assert said == f"coarsen: note: {progress}, best so far 2.00: {CORRECT.candidate}"


def test_rows_of_unknown_number_are_counted() -> None:
    clock = Watch()
    tally = Tally(clock=clock)
    after_a_minute(tally, clock)
    assert str(tally) == f"4 rows, 3 rows/min, 1 failed, mt: {Variant((32, 32))}"


def test_fits_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Watch()
    fits = Fits(clock)
    with logging_to_stderr():
        for done in range(1, 6):
            clock.seconds += 20
            fits("cascade", done, 5)
    notes = [f"coarsen: note: cascade: {done} of 5" for done in (2, 4)]
    assert capsys.readouterr().err.splitlines() == notes


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0, "0"), (0.714, "0.71"), (3.04, "3"), (9.97, "10"), (123.4, "123")]
)
def test_rates(rate: float, text: str) -> None:
    assert rows_per_minute(rate) == f"{text} rows/min"


def test_a_terminal_has_the_line_all_the_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clock = Watch()
    with (tmp_path / "screen").open("w+") as screen:
        monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stderr", screen)
        with logging_to_stderr(), watching(Tally({PLAN: 10}, clock)) as tally:
            after_a_minute(tally, clock)
            tally.measuring("mt", Variant((16, 16)))
            tally.finished(RESULT)
    shown = (tmp_path / "screen").read_text()
    assert "0 of 10 rows" in shown and "mt on intel: 2 rows" in shown
    assert "note:" not in shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"), (3599, "1 h 00 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_search_says_which_trial_it_measures() -> None:
    clock = Watch()
    tally = Tally({PLAN: 10}, clock)
    tally.planned("mt", "2:0 AMD EPYC", 10)
    tally.trying(SearchProgress(7, 40))
    tally.measuring("mt", Variant((16, 16)))
    assert "mt: trial 7 of 40, uncoarsened, local size 16×16" in str(tally)
    tally.stored(CORRECT, True)
    tally.measuring("mt", Variant((16, 16)))
    assert "mt: uncoarsened" in str(tally), "a confirmation is no trial"
    assert tally.total == 10


def test_a_search_of_some_seconds_has_no_known_number_of_rows() -> None:
    clock = Watch()
    tally = Tally({PLAN: 2}, clock)
    tally.planned("mt", "2:0 AMD EPYC", 2)
    for trial in (1, 2):
        tally.trying(SearchProgress(trial, None, 12.3, 60.0))
        tally.measuring("mt", Variant((16, 16)))
        assert f"mt: trial {trial}, 12 of 60 s, uncoarsened" in tally.current
        tally.stored(CORRECT, True)
        clock.seconds += 5
    assert (tally.rows, tally.total, tally.seconds_left) == (2, 4, None)
    tally.finished(RESULT)
    assert tally.seconds_left is not None
