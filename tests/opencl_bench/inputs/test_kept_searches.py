"""Searches that a file keeps are not run again, and are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.search.random_sample import RandomSearcher
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from tests.opencl_bench.inputs.test_stage_one import grid_times


def test_kept_searches_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times, settings = grid_times(5, noise=0.02), StageOneSettings(RandomSearcher())
    file = tmp_path / "searches.jsonl"
    first = ReplayedStageOne(settings, KeptSearches(file)).run(times)
    kept = KeptSearches(file)
    assert len(kept) == 5

    def refuse(self: RandomSearcher, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        raise AssertionError("searched again")

    monkeypatch.setattr(RandomSearcher, "search", refuse)
    again = ReplayedStageOne(settings, kept).run(times)
    assert again.choices == first.choices
    assert [[trial.time for trial in found.trace] for found in again.found] == [
        [trial.time for trial in found.trace] for found in first.found
    ]


def test_another_searcher_searches_itself(tmp_path: Path) -> None:
    times, file = grid_times(5, noise=0.02), tmp_path / "searches.jsonl"
    staircase = StageOneSettings(StaircaseSearcher(), is_warm=False)
    ReplayedStageOne(replace(staircase, searcher=RandomSearcher()), KeptSearches(file)).run(times)
    found = ReplayedStageOne(staircase, KeptSearches(file)).run(times).found
    assert [each.trace for each in found] == [each.trace for each in ReplayedStageOne(staircase).run(times).found]


@pytest.mark.parametrize("content", ["{}", "no JSON", '{"search": "a", "trace": [[[0], -1]], "ending": ""}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "searches.jsonl"
    file.write_text(content)
    with pytest.raises(InvalidInputError, match="it keeps no searches"):
        KeptSearches(file)


def test_keys_are_what_is_enumerated(tmp_path: Path) -> None:
    kept = KeptSearches(tmp_path / "searches.jsonl")
    ReplayedStageOne(StageOneSettings(RandomSearcher()), kept).run(grid_times(3, noise=0.02))
    assert len(kept) == 3 and all(kept[key].trace for key in kept)
    assert {**kept} == {**KeptSearches(tmp_path / "searches.jsonl")}


@pytest.mark.parametrize("left", [1, 4, 30, 200])
def test_a_line_that_was_cut_off_is_taken_off(left: int, tmp_path: Path) -> None:
    file = tmp_path / "searches.jsonl"
    stage = ReplayedStageOne(StageOneSettings(RandomSearcher()), KeptSearches(file))
    stage.run(grid_times(3, noise=0.02))
    whole = file.read_text()
    lines = whole.splitlines(keepends=True)
    file.write_text("".join(lines[:2]) + lines[2][:left])
    kept = KeptSearches(file)
    assert len(kept) == 2 and file.read_text() == "".join(lines[:2])
    # What comes next stands in a line of its own.
    ReplayedStageOne(StageOneSettings(RandomSearcher()), kept).run(grid_times(3, noise=0.02))
    assert file.read_text() == whole


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    file = tmp_path / "searches.jsonl"
    ReplayedStageOne(StageOneSettings(RandomSearcher()), KeptSearches(file)).run(grid_times(3, noise=0.02))
    whole = file.read_text()
    file.write_text(whole.removesuffix("\n"))
    assert len(KeptSearches(file)) == 3 and file.read_text() == whole
