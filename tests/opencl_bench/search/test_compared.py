"""Other tuners' searches: the same count, budget and seed as ours, and their own generators left alone."""

from __future__ import annotations

import importlib.util
import logging
import random

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.compared import COMPARED, REPLAYED
from coarsen.opencl_bench.search.evaluator import FunctionEvaluator
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.search.replay import Plan, replay
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.searchers import SEARCHERS
from coarsen.opencl_bench.search.spaces import Axis, Choice, ConstrainedSpace
from tests.opencl_bench.search.made_up import made_up_table
from tests.opencl_bench.search.tables import GuardedTimes

# The values are in no order and one axis has texts: other tuners compute with numbers.
SPACE = ConstrainedSpace(
    (Axis("width", (32, 1, 4, 16, 8, 2)), Axis("tile", (2, 1, 3, 4)), Axis("layout", ("rows", "columns"))),
    lambda choice: choice[0] + choice[1] != 5,
)
by_name = pytest.mark.parametrize("searcher", COMPARED.values(), ids=lambda searcher: searcher.name)


def time_of(choice: Choice) -> float | None:
    width, tile, layout = (axis.values[place] for axis, place in zip(SPACE.axes, choice, strict=True))
    return None if width == 32 and tile == 4 else 1.0 + abs(width - 8) + abs(tile - 3) + 2 * (layout == "rows")


def searched(searcher: Searcher, budget: Budget, seed: int = 0) -> Found:
    """The result of a search that can see nothing but what it tries."""
    every = [(a, b, c) for a in range(6) for b in range(4) for c in range(2)]
    guarded = GuardedTimes({choice: time_of(choice) for choice in every})
    evaluator = FunctionEvaluator(SPACE, guarded.__getitem__)
    found = searcher.search(evaluator, budget, seed)
    assert [trial.choice for trial in found.trace] == guarded.looked_up
    assert len(found.trace) == evaluator.tried == len(set(guarded.looked_up))
    return found


@by_name
def test_the_budget_is_kept_by_one_count(searcher: Searcher) -> None:
    found = searched(searcher, Budget(trials=12))
    assert 0 < len(found.trace) <= 12
    assert found.best is not None
    assert found.best.time == min(trial.time for trial in found.trace if trial.time is not None)


@by_name
def test_the_same_seed_gives_the_same_trace_and_leaves_the_generators_alone(searcher: Searcher) -> None:
    def seeded() -> None:
        random.seed(5)
        np.random.seed(5)

    seeded()
    expected = random.random(), np.random.random()
    seeded()
    first, again = (searched(searcher, Budget(trials=12), seed=3) for _ in range(2))
    assert first.trace == again.trace
    assert (random.random(), np.random.random()) == expected


@by_name
def test_the_root_logger_is_left_alone(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    searched(searcher, Budget(trials=5))
    assert logging.getLogger().handlers == []


@by_name
def test_a_search_that_failures_alone_meet_ends(searcher: Searcher) -> None:
    found = searcher.search(FunctionEvaluator(SPACE, lambda _: None), Budget(trials=10), 0)
    assert found.best is None
    assert 0 < len(found.trace) <= 10


@by_name
def test_what_is_missing_is_said(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    evaluator = FunctionEvaluator(SPACE, time_of)
    with pytest.raises(InvalidInputError, match=r"need its package: pip install 'coarsen\[compare\]'"):
        searcher.search(evaluator, Budget(trials=3), 0)
    assert evaluator.tried == 0


def test_they_can_be_replayed_but_not_asked_for_a_sweep() -> None:
    assert set(REPLAYED) == {*SEARCHERS, *COMPARED}
    assert not set(SEARCHERS) & set(COMPARED)
    rows = replay([made_up_table()], Plan(("optuna:tpe", "kernel-tuner:greedy-ils"), 2, Budget(share=0.1))).rows
    assert set(rows["searcher"]) == {"optuna:tpe", "kernel-tuner:greedy-ils"}
    assert (rows.groupby(["searcher", "seed"])["tried"].max() <= rows["choices"].max() // 10).all()
