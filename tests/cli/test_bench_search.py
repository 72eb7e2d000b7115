"""`coarsen bench --search`: a small search on a real device, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
SMALL = (
    "-d",
    "intel",
    "--preset",
    "test",
    "--quick",
    "--space",
    "factor=1,2,4",
    "--space",
    "stride=1",
    "--space",
    "dim=0,1",
)
MT = ("mt", *SMALL, "--space", "local-size=8x8", "--space", "at-once=2", "--no-confirmation")


def test_a_search_its_report_and_going_on(tmp_path: Path, run: Run) -> None:
    store = ("--store", tmp_path / "results.sqlite")
    first = run("bench", *MT, "--search", "random", "--budget", 3, "--seed", 4, *store)
    assert first.code == 0
    notes = first.err.splitlines()
    assert notes[0] == "coarsen: note: 4 rows to measure in 1 sweep, those apart that the store has"
    assert "mt on intel: random search tried 3 configurations of 9 (33.3%), none failed; the budget was spent" in (
        first.out.splitlines()
    )
    assert "mt on intel: the best that it met, before confirmation: " in first.out

    again = run("bench", *MT, "--search", "random", "--budget", "50%", "--seed", 4, *store, "-f", "json", "-q")
    (found,) = json.loads(again.out)["sweeps"]
    assert found["measured"] == 1
    search = found["search"]
    assert (search["searcher"], search["tried"], search["failed"], search["choices"]) == ("random", 4, 0, 9)
    assert search["ending"] == "the budget was spent"
    assert search["best"]["local_size"] == [8, 8]
    assert search["notes"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "5"), "--budget goes with --search NAME, the search that it is for"),
        (("--search", "randon"), "--search knows no 'randon' (did you mean random?); it knows guided, "),
        (("--search", "random", "--space", "sample=3"), "--space sample=… does not go with --search"),
        (
            ("--search", "random", "--budget", "much"),
            "--budget is a share such as 5%, seconds such as 90s, or a whole number, not 'much'",
        ),
        (("--search", "random", "--budget", "0s"), "a budget has more than 0 seconds"),
        (("--search", "random", "--budget", "nans"), "a budget has more than 0 seconds"),
        (("--search", "random", "--budget", "0"), "a budget has at least one trial"),
        (("--search", "random", "--budget", "200%"), "a budget is a share above 0 and at most 1"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], message: str, tmp_path: Path, run: Run) -> None:
    outcome = run("bench", *MT, *arguments, "--store", tmp_path / "results.sqlite")
    assert outcome.code == 2
    assert outcome.error.startswith(message)
    assert outcome.out == ""
