"""What `coarsen bench` shows while it measures."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from coarsen.cli.bench.progress import (
    Bar,
    PlainLines,
    Tally,
    best_so_far,
    duration,
    progress_line,
    rows_per_minute,
    watching,
)
from coarsen.cli.messages import logging_to_stderr
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


def test_the_figures_of_the_bar() -> None:
    clock = Watch()
    screen = Console(file=io.StringIO(), force_terminal=True, width=90, color_system=None)
    bar = Bar({PLAN: 10}, screen, clock)
    assert [figure.plain for figure in bar.figures()][1:] == ["0 rows/min", "time left unknown", "0 failed"]
    after_a_minute(bar, clock)
    assert [figure.plain for figure in bar.figures()] == ["4/10 rows", "3 rows/min", "2 min left", "1 failed"]
    with screen.capture() as capture:
        screen.print(bar)
    first, second, third = capture.get().splitlines()
    assert first.startswith("━━━") and first.endswith("  4/10 rows  3 rows/min  2 min left  1 failed")
    assert second.strip() == "mt: uncoarsened, local size 32×32"
    assert third.strip() == f"best so far 2.00: {CORRECT.candidate}"
    bar.planned("reduce", "2:0 AMD EPYC", 10)
    assert best_so_far(bar) == ""


def test_the_bar_counts_out_what_will_not_come() -> None:
    screen = Console(file=io.StringIO(), width=200)
    bar = Bar({PLAN: 10, OTHER_PLAN: 15}, screen)
    bar.planned("mt", "2:0 AMD EPYC", 10)
    for measurement in RESULT.rows:
        bar.stored(measurement, True)
    bar.finished(RESULT)
    assert (bar.rows, bar.total) == (2, 17)
    assert isinstance(screen.file, io.StringIO)
    said = "mt on intel: 2 rows, 1 of them measured in 1 min, 1 failed, 1 broke a constraint"
    assert screen.file.getvalue().strip() == said


def test_plain_lines_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Watch()
    with logging_to_stderr():
        lines = PlainLines({PLAN: 10}, clock)
        after_a_minute(lines, clock)
        for _ in range(3):
            lines.measuring("mt", Variant((16, 16)))
        lines.finished(RESULT)
    said = capsys.readouterr().err.splitlines()
    progress = "4 of 10 rows, 3 rows/min, about 2 min left, 1 failed, mt: uncoarsened, local size 16×16"
    assert said[0] == f"coarsen: note: {progress}, best so far 2.00: {CORRECT.candidate}"
    assert said[1].startswith("coarsen: note: mt on intel: 2 rows, ")
    assert len(said) == 2


def test_rows_on_other_machines_are_counted() -> None:
    clock = Watch()
    tally = Tally({PLAN: 10}, clock)
    clock.seconds += 120
    tally.counted(8, 4)
    assert progress_line(tally) == "8 of 10 rows, 2 rows/min, about 1 min left, 0 sweeps finished"


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0, "0"), (0.714, "0.71"), (3.04, "3"), (9.97, "10"), (123.4, "123")]
)
def test_rates(rate: float, text: str) -> None:
    assert rows_per_minute(rate) == f"{text} rows/min"


def test_a_terminal_has_the_bar_and_a_file_has_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to_stderr(), watching({PLAN: 10}) as tally:
        assert isinstance(tally, PlainLines)
    with (tmp_path / "screen").open("w+") as screen:
        monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stderr", screen)
        with logging_to_stderr(), watching({PLAN: 10}) as tally:
            assert isinstance(tally, Bar)
    assert "0/10 rows" in (tmp_path / "screen").read_text()


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
    assert "mt: trial 7 of 40, uncoarsened, local size 16×16" in progress_line(tally)
    tally.stored(CORRECT, True)
    tally.measuring("mt", Variant((16, 16)))
    assert "mt: uncoarsened" in progress_line(tally), "a confirmation is no trial"
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
