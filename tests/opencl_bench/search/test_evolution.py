"""Differential evolution: tiny spaces whole, ends without gain, failures lose, all choices valid."""

from __future__ import annotations

import pytest

from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.evaluator import FunctionEvaluator
from coarsen.opencl_bench.search.evolution import EvolutionSearcher
from coarsen.opencl_bench.search.spaces import Choice
from tests.opencl_bench.search.tables import additive_times, space_of


def far_from(choice: Choice) -> float:
    """Fastest at 7 on each axis."""
    return 1.0 + sum((index - 7) ** 2 for index in choice)


def test_a_tiny_space_is_searched_exhaustively() -> None:
    space = space_of((4,), (5, 2))
    times = additive_times(space, 0)
    found = EvolutionSearcher().search(FunctionEvaluator(space, times.__getitem__), Budget(), 0)
    assert len(found.trace) == 40
    assert found.notes == ("the space has no more than 40 valid choices: exhaustive search",)


def test_it_ends_after_three_generations_without_gain() -> None:
    # All times are equal: no generation after the first population brings a gain.
    evaluator = FunctionEvaluator(space_of((12,), (12, 12)), lambda _: 1.0)
    found = EvolutionSearcher().search(evaluator, Budget(), 0)
    assert found.ending == "3 generations brought no gain"
    assert 10 < len(found.trace) <= 40


def test_it_gains_on_its_first_population() -> None:
    space = space_of((12,), (12, 12, 12))
    gains = []
    for seed in range(10):
        found = EvolutionSearcher().search(FunctionEvaluator(space, far_from), Budget(), seed)
        assert found.best is not None
        assert found.best.time is not None
        gains.append(min(far_from(trial.choice) for trial in found.trace[:10]) / found.best.time)
    assert all(gain >= 1 for gain in gains)
    assert sum(gain > 2 for gain in gains) >= 5


@pytest.mark.parametrize("seed", range(5))
def test_invalid_choices_are_never_tried_and_failures_do_not_survive(seed: int) -> None:
    space = space_of((6,), (6, 6), lambda choice: sum(choice) % 3 != 0)
    evaluator = FunctionEvaluator(space, lambda choice: None if choice[0] > 2 else far_from(choice))
    found = EvolutionSearcher().search(evaluator, Budget(), seed)
    assert all(space.is_valid(trial.choice) for trial in found.trace)
    assert any(trial.time is None for trial in found.trace)
    assert found.best is not None
    assert found.best.choice[0] <= 2
