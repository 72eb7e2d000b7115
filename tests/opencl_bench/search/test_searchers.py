"""Rules for all searchers: one count, the budget, the seed, and no look at what they have not tried."""

from __future__ import annotations

import random
import sys

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.search_sweep import SEARCHERS
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.guided import SHORTEST, GuidedSearcher
from coarsen.tuning.search.searcher import Found, Searcher
from coarsen.tuning.search.spaces import Choice
from tests.opencl_bench.search.tables import (
    ConstrainedSpace,
    FunctionEvaluator,
    GuardedTimes,
    additive_times,
    space_of,
)

SPACE = space_of((3, 2, 4, 3, 3), lambda choice: sum(choice) % 4 != 3)
QUICK = GuidedSearcher(trees=10)
ALL = [*(searcher for searcher in SEARCHERS.values() if searcher.name != "guided"), QUICK]
by_name = pytest.mark.parametrize("searcher", ALL, ids=lambda searcher: searcher.name)


def times_with_failures() -> dict[Choice, float | None]:
    draw = random.Random(5)
    return {c: None if draw.random() < 0.1 else time for c, time in additive_times(SPACE, 7, 0.1).items()}


TIMES = times_with_failures()


def searched(searcher: Searcher, budget: Budget, seed: int = 0) -> Found:
    """The result of a search that can see nothing but what it tries."""
    guarded = GuardedTimes(TIMES)
    evaluator = FunctionEvaluator(SPACE, guarded.__getitem__)
    found = searcher.search(evaluator, budget, seed)
    assert [trial.choice for trial in found.trace] == guarded.looked_up
    assert len(found.trace) == evaluator.tried == len(set(guarded.looked_up))
    return found


def test_every_searcher_is_known_by_its_name() -> None:
    assert set(SEARCHERS) == {"guided", "staircase", "random", "exhaustive"}
    assert all(searcher.name == name for name, searcher in SEARCHERS.items())


@by_name
@pytest.mark.parametrize("trials", [1, 2, 7, 30, 60])
def test_the_budget_is_kept_and_failures_count(searcher: Searcher, trials: int) -> None:
    found = searched(searcher, Budget(trials=trials))
    assert len(found.trace) <= trials
    assert all(trial.time == TIMES[trial.choice] for trial in found.trace)
    times = [trial.time for trial in found.trace if trial.time is not None]
    assert (found.best.time if found.best else None) == min(times, default=None)


@by_name
def test_the_same_seed_gives_the_same_trace(searcher: Searcher) -> None:
    first, again = (searched(searcher, Budget(trials=60), seed=3) for _ in range(2))
    assert first == again
    assert repr(first.trace).encode() == repr(again.trace).encode()


@pytest.mark.parametrize("searcher", [SEARCHERS["random"], QUICK])
def test_another_seed_gives_another_trace(searcher: Searcher) -> None:
    assert len({searched(searcher, Budget(trials=60), seed).trace for seed in range(4)}) == 4


@by_name
def test_without_a_budget_each_search_ends(searcher: Searcher) -> None:
    found = searched(searcher, Budget())
    assert found.best is not None
    assert found.ending != "the budget was spent"


@by_name
def test_where_nothing_is_valid_nothing_is_found(searcher: Searcher) -> None:
    space = ConstrainedSpace(SPACE.axes, lambda _: False)
    found = searcher.search(FunctionEvaluator(space, lambda _: 1.0), Budget(), 0)
    assert (found.best, found.trace) == (None, ())


@by_name
def test_where_nothing_runs_each_search_ends(searcher: Searcher) -> None:
    found = searcher.search(FunctionEvaluator(SPACE, lambda _: None), Budget(trials=80), 0)
    assert found.best is None
    assert 0 < len(found.trace) <= 80


@pytest.mark.parametrize("name", ["random", "exhaustive"])
def test_complete_searches_find_the_best(name: str) -> None:
    found = searched(SEARCHERS[name], Budget())
    assert sorted(trial.choice for trial in found.trace) == sorted(TIMES)
    assert found.ending == "every valid choice was tried"


def test_a_huge_space_is_searched_by_all_but_the_exhaustive_one() -> None:
    space = space_of((10,) * 9, lambda choice: choice[0] != choice[1])
    for searcher in (SEARCHERS["random"], QUICK):
        found = searcher.search(FunctionEvaluator(space, lambda choice: 1.0 + sum(choice)), Budget(trials=130), 0)
        assert found.best is not None
        assert found.best.time is not None
        assert found.best.time < 40


def test_guided_search_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    evaluator = FunctionEvaluator(SPACE, lambda _: 1.0)
    with pytest.raises(InvalidInputError, match=r"needs scikit-learn: pip install 'coarsen\[tune\]'"):
        SEARCHERS["guided"].search(evaluator, Budget(), 0)
    assert evaluator.tried == 0


def test_guided_search_starts_with_the_default_and_random_choices() -> None:
    found = searched(QUICK, Budget(trials=40))
    assert len(found.trace) == 40
    assert found.trace[0].choice == (0,) * len(SPACE.axes)
    assert len({searched(QUICK, Budget(trials=10), seed).trace[:10] for seed in range(3)}) == 3


def test_guided_search_ends_after_rounds_without_gain_or_goes_on() -> None:
    space = space_of((3, 6, 6, 6))
    for trials, expected in ((None, SHORTEST), (80, 80)):
        # The default is the fastest: no round brings a gain.
        evaluator = FunctionEvaluator(space, lambda choice: 1.0 + sum(choice))
        found = QUICK.search(evaluator, Budget(trials=trials), 0)
        assert len(found.trace) == expected
        assert found.ending == ("5 rounds brought no gain" if expected == SHORTEST else "the budget was spent")


def test_guided_search_finds_a_value_that_was_never_tried_beside_the_others() -> None:
    # One choice is far better than its neighbours: the models expect nothing of it.
    space = space_of((24, 2, 12))

    def time(choice: Choice) -> float:
        return (
            1.0 if choice == (17, 1, 5) else 4.0 + abs(choice[0] - 17) / 4 + abs(choice[2] - 5) + 2.0 * choice[1]
        )

    found = QUICK.search(FunctionEvaluator(space, time), Budget(share=0.2), 0)
    assert found.best is not None and found.best.choice == (17, 1, 5)
