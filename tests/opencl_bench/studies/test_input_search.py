"""Searches replayed on made-up grids: what they find, and how much of the grid they try."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from coarsen.opencl_bench.inputs.grid_searches import Entry, quality_of, searched
from coarsen.opencl_bench.search.exhaustive import ExhaustiveSearcher
from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.opencl_bench.studies.input_search import lines, searched_grid
from tests.opencl_bench.inputs.test_stage_one import grid_times

STAIRCASE = Entry(StaircaseSearcher(), None)
QUICK = Entry(GuidedSearcher(trees=5), 0.25, seeds=(0, 1))


def test_each_search_has_its_quality_and_its_share_of_the_versions() -> None:
    times = grid_times(inputs=4)
    staircase, guided, all_of_it = searched(
        "made up", times, (STAIRCASE, QUICK, Entry(ExhaustiveSearcher(), None))
    )
    # 1 + 2 * (7 + 7) runs at most, less where one axis is at its end.
    assert all(15 / 64 <= share <= 29 / 64 for share in staircase.share)
    assert set(guided.share) == {0.25}
    assert all_of_it.log_quality == (0.0,) * 4 and set(all_of_it.share) == {1.0}
    assert all(quality <= 0 for quality in guided.log_quality)
    assert sorted(staircase.groups) == ["made up/0", "made up/1", "made up/2", "made up/3"]


def test_a_warm_search_is_that_of_the_first_stage() -> None:
    times = grid_times(inputs=4)
    few = replace(QUICK, share=0.2)
    cold, warm = searched("made up", times, (few, replace(few, is_warm=True)))
    assert (cold.entry, warm.entry) == ("guided, 20%", "guided, warm, 20%")
    # What a search starts from, and what is tried in the end, is counted.
    assert max(warm.share) <= max(cold.share)
    assert warm.log_quality != cold.log_quality


def test_a_failure_is_never_the_best_and_a_small_grid_tells_nothing() -> None:
    times = grid_times(inputs=2)
    assert searched_grid("small", times.of_versions(range(20, 60))) == ()
    (few,) = searched("made up", times, (STAIRCASE,), inputs=1)
    assert len(few.groups) == 1


def test_kernels_are_told_alone_and_together() -> None:
    times = grid_times(inputs=3)
    found = [each for kernel in ("one", "two") for each in searched(kernel, times, (STAIRCASE,))]
    told = [*lines(found)]
    assert [line.split(" | ")[0] for line in told[2:]] == ["| one", "| two", "| all kernels"]
    pooled = quality_of(found)
    assert pooled.value == pytest.approx(math.exp(sum(found[0].log_quality) / 3))
    assert pooled.interval.low <= pooled.value <= pooled.interval.high
    assert told[-1].endswith(("| yes |", "| better |", "| no |"))
