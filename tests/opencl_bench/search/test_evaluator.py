"""Evaluators count each distinct choice once, failures too, and budgets are kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.search.evaluator import Budget, BudgetSpentError, Evaluator, Trial
from coarsen.tuning.search.spaces import Choice
from tests.opencl_bench.search.tables import FunctionEvaluator, space_of

SPACE = space_of((2, 5), lambda choice: choice != (1, 4))


def time_of(choice: Choice) -> float | None:
    return None if choice == (1, 0) else 1.0 + sum(choice)


class Slow(Evaluator):
    """Each trial takes two seconds."""

    def _measure(self, choice: Choice) -> Trial:
        return Trial(choice, 1.0, seconds=2.0)


def test_each_distinct_choice_counts_once() -> None:
    evaluator = FunctionEvaluator(SPACE, time_of)
    trials = [evaluator.evaluate(choice) for choice in [(0, 1), (1, 0), (0, 1), (1, 0)]]
    assert trials[0] is trials[2]
    assert trials[1] is trials[3]
    assert evaluator.trace == (Trial((0, 1), 2.0), Trial((1, 0), None))
    assert evaluator.tried == 2


@pytest.mark.parametrize("choice", [(1, 4), (0, 5), (0, -1), (0,), (0, 0, 0)])
def test_what_is_no_valid_choice_is_refused_and_not_counted(choice: Choice) -> None:
    evaluator = FunctionEvaluator(SPACE, time_of)
    with pytest.raises(InvalidInputError, match="no valid choice of the space"):
        evaluator.evaluate(choice)
    assert evaluator.tried == 0


@pytest.mark.parametrize("time", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_is_above_0_and_finite(time: float) -> None:
    with pytest.raises(ValueError, match="a time is above 0 and finite"):
        Trial((0,), time)


def test_nothing_new_is_tried_once_no_time_is_left() -> None:
    inner = FunctionEvaluator(SPACE, time_of)
    evaluator = inner.keep_to(Budget(is_over=lambda: inner.tried == 2))
    with pytest.raises(BudgetSpentError, match="the time was over"):
        evaluator.try_all([(0, 0), (0, 1), (0, 0), (0, 2)])
    assert inner.tried == 2


def test_a_budget_of_trials_counts_failures_and_nothing_twice() -> None:
    evaluator = FunctionEvaluator(SPACE, time_of).keep_to(Budget(trials=2))
    for choice in [(1, 0), (0, 0), (1, 0), (0, 0)]:
        evaluator.evaluate(choice)
    assert evaluator.left == 0
    with pytest.raises(BudgetSpentError):
        evaluator.evaluate((0, 1))
    assert evaluator.tried == 2


def test_what_was_tried_before_counts_too() -> None:
    inner = FunctionEvaluator(SPACE, time_of)
    inner.evaluate((0, 0))
    evaluator = inner.keep_to(Budget(trials=2))
    assert evaluator.left == 1
    evaluator.evaluate((0, 1))
    evaluator.evaluate((0, 0))
    with pytest.raises(BudgetSpentError):
        evaluator.evaluate((0, 2))


def test_a_budget_of_seconds_ends_after_the_trial_that_exceeds_it() -> None:
    evaluator = Slow(SPACE).keep_to(Budget(seconds=3.0))
    evaluator.evaluate((0, 0))
    evaluator.evaluate((0, 1))
    with pytest.raises(BudgetSpentError):
        evaluator.evaluate((0, 2))


@pytest.mark.parametrize(("share", "trials"), [(1.0, 9), (0.5, 4), (0.01, 1), (1 / 3, 3)])
def test_a_share_is_of_the_valid_choices(share: float, trials: int) -> None:
    assert Budget(share=share).most_trials(SPACE) == trials
    assert Budget(trials=2, share=share).most_trials(SPACE) == min(2, trials)


def test_a_share_of_what_is_too_large_to_count_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="give the budget as a number of trials"):
        Budget(share=0.1).most_trials(space_of((10,) * 9))


@pytest.mark.parametrize(
    "made",
    [
        lambda: Budget(trials=0),
        lambda: Budget(share=0.0),
        lambda: Budget(share=1.1),
        lambda: Budget(seconds=0.0),
    ],
)
def test_a_budget_out_of_range_is_refused(made: Callable[[], Budget]) -> None:
    with pytest.raises(InvalidInputError, match="a budget"):
        made()
