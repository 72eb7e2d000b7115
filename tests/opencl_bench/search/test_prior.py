"""Expected times order the first choices of a guided search, and measured ones correct them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from coarsen.tuning.search.evaluator import Budget, Trial
from coarsen.tuning.search.guided import GuidedSearcher
from coarsen.tuning.search.guided_models import Forest
from coarsen.tuning.search.spaces import Choice
from coarsen.tuning.search.surrogate import Prior, promising_first, weight_of
from tests.opencl_bench.search.tables import FunctionEvaluator, space_of

SPACE = space_of((8, 4, 5, 3))


def time_of(choice: Choice) -> float:
    return math.exp(expected(choice)) * (1 + 0.1 * choice[3])


def expected(choice: Choice) -> float:
    return abs(choice[0] - 6) / 4 + abs(choice[1] - 2) / 4 + choice[2] / 20


def test_one_of_each_expected_time_comes_first() -> None:
    choices = [(0, 1), (0, 0), (1, 0), (1, 1), (1, 2)]
    ordered = promising_first(choices, lambda choice: -choice[0] + 1e-9 * choice[1])
    assert ordered == [(1, 0), (0, 1), (1, 1), (0, 0), (1, 2)]


@pytest.mark.parametrize("budget", [Budget(trials=20), Budget(seconds=20)])
def test_guided_search_begins_with_the_default_and_what_is_expected(budget: Budget) -> None:
    class Timed(FunctionEvaluator):
        def _measure(self, choice: Choice) -> Trial:
            return Trial(choice, time_of(choice), seconds=1.0)

    found = GuidedSearcher(trees=10, prior=expected).search(Timed(SPACE, time_of), budget, 0)
    first = [trial.choice for trial in found.trace[:10]]
    assert len(found.trace) == 20
    assert first[0] == (0, 0, 0, 0)
    assert sorted(map(expected, first[1::2])) == list(map(expected, first[1::2]))
    assert first[1][:3] == (6, 2, 0)
    assert found.best is not None and found.best.choice == (6, 2, 0, 0)
    assert "of the first 10 trials half are what was expected to be fastest, the others random" in found.notes


def test_a_prior_keeps_to_the_budget_and_to_the_seed() -> None:
    searcher = GuidedSearcher(trees=10, prior=expected)
    traces = [
        searcher.search(FunctionEvaluator(SPACE, time_of), Budget(trials=trials), 5).trace
        for trials in (1, 2, 20, 20)
    ]
    assert [len(trace) for trace in traces] == [1, 2, 20, 20]
    assert traces[2] == traces[3]


def test_a_wrong_prior_is_corrected() -> None:
    found = GuidedSearcher(trees=20, prior=lambda choice: -0.5 * expected(choice)).search(
        FunctionEvaluator(SPACE, time_of), Budget(trials=60), 0
    )
    assert found.best is not None and found.best.time is not None
    assert found.best.time < 1.2 * time_of((6, 2, 0, 0))


def test_what_was_measured_says_how_far_to_believe() -> None:
    believed = np.array([0.0, 1.0, 2.0])
    assert weight_of(believed, 3 + believed / 2) == pytest.approx(0.5)
    assert weight_of(believed, 2 * believed) == 1
    assert weight_of(believed, -believed) == 0
    assert weight_of(np.ones(3), believed) == 1


def test_a_forest_adds_what_is_expected_to_what_it_has_learned() -> None:
    trials = [
        Trial((i, j, 0, 0), 2.0 * math.exp(expected((i, j, 0, 0)))) for i in range(0, 8, 2) for j in range(4)
    ]
    new = [(1, 1, 4, 0), (5, 2, 0, 2), (7, 3, 2, 1)]
    # The measured times are twice what is expected, whatever the choice.
    believed = np.array([expected(choice) for choice in new])
    assert means(expected, trials, new) == pytest.approx(math.log(2) + believed)
    assert means(None, trials, new) == means(lambda _: 0.0, trials, new)


def means(prior: Prior | None, trials: Sequence[Trial], new: Sequence[Choice]) -> list[float]:
    return [float(mean) for mean in Forest(SPACE, 10, prior).fit(trials, seed=0)(new).mean]
