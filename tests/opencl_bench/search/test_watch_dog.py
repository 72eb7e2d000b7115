"""The watch-dog's rules: bases live, each group keeps a value, a killed value is in no prediction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.tuning.search.additive import PAPER
from coarsen.tuning.search.additive_design import combinations, measure_design, ranked, supports_of
from coarsen.tuning.search.evaluator import (
    Budget,
    BudgetedEvaluator,
    FunctionEvaluator,
    WatchDog,
)
from coarsen.tuning.search.spaces import Choice
from tests.opencl_bench.search.tables import additive_times, every_choice, space_of

SPACE = space_of((3,), (3, 2, 4, 3))
LINE = space_of((), (4,))
TIMES: dict[Choice, float] = {(0,): 5.0, (1,): 7.0, (2,): 3.0, (3,): 4.0}


def watched(is_on: bool = True) -> WatchDog:
    return WatchDog(BudgetedEvaluator(FunctionEvaluator(LINE, TIMES.__getitem__), Budget()), is_on)


def test_what_is_slower_than_the_fastest_so_far_is_ended() -> None:
    watch_dog = watched()
    trials = [watch_dog.evaluate((index,)) for index in range(4)]
    assert [trial.time for trial in trials] == [5.0, None, 3.0, None]
    assert [trial.killed_after for trial in trials] == [None, 5.0, None, 3.0]
    assert watch_dog.evaluator.tried == 4


def test_switched_off_it_ends_nothing() -> None:
    watch_dog = watched(is_on=False)
    assert [watch_dog.evaluate((index,)).time for index in range(4)] == list(TIMES.values())


@pytest.mark.parametrize("seed", range(20))
def test_bases_live_and_every_group_keeps_a_value(seed: int) -> None:
    times = additive_times(SPACE, seed)
    # The bases of two combinations are slower than all of the first one: they must not be measured against it.
    slow = {choice: time * (1 + 10 * choice[0]) for choice, time in times.items()}
    evaluator = BudgetedEvaluator(FunctionEvaluator(SPACE, slow.__getitem__), Budget())
    bases = list(combinations(SPACE, (0,) * 5))
    design = measure_design(evaluator, bases, relays=False, watch_dog=True, is_log=False)
    trials = {trial.choice: trial for trial in evaluator.trace}
    assert len(trials) == 3 * (1 + 2 + 1 + 3 + 2)
    assert any(trial.killed_after is not None for trial in trials.values())
    assert all(trials[base].time == slow[base] for base in bases)
    for model in design.models:
        for place in range(1, 5):
            group = [support.after for support in supports_of(SPACE, model.base, False) if support.place == place]
            living = {model.base, *(choice for choice in group if trials[choice].time is not None)}
            # The fastest of the group is always among them, and they alone are in predictions.
            assert min([model.base, *group], key=slow.__getitem__) in living
            assert set(model.terms[place]) == {choice[place] for choice in living}


def test_a_killed_value_is_neither_slow_nor_fast_but_out_of_the_ranking() -> None:
    space = space_of((), (3, 3))
    times = {choice: 10.0 + 5 * choice[0] - 2 * choice[1] for choice in every_choice(space)}
    evaluator = BudgetedEvaluator(FunctionEvaluator(space, times.__getitem__), Budget())
    design = measure_design(evaluator, [(0, 0)], relays=False, watch_dog=True, is_log=False)
    killed = {trial.choice for trial in evaluator.trace if trial.killed_after is not None}
    assert killed == {(1, 0), (2, 0)}
    assert list(ranked(design.models)) == [(6.0, (0, 2)), (8.0, (0, 1)), (10.0, (0, 0))]
    assert design.unranked == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_is_the_same_with_and_without(seed: int) -> None:
    times = additive_times(SPACE, seed)
    plain, killing = (
        replace(PAPER, watch_dog=is_on).search(FunctionEvaluator(SPACE, times.__getitem__), Budget(), 0)
        for is_on in (False, True)
    )
    assert plain.best == killing.best
    assert len(killing.trace) <= len(plain.trace)


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_change_what_is_predicted_to_be_the_best(seed: int) -> None:
    times = additive_times(SPACE, seed, noise=0.05)
    firsts = []
    for is_on in (False, True):
        evaluator = BudgetedEvaluator(FunctionEvaluator(SPACE, times.__getitem__), Budget())
        bases = list(combinations(SPACE, (0,) * 5))
        design = measure_design(evaluator, bases, relays=False, watch_dog=is_on, is_log=False)
        firsts.append(next(ranked(design.models)))
    assert firsts[0] == firsts[1]
