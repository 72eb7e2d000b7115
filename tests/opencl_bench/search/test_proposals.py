"""Rounds of guided search: expected improvements by turns, and single steps from the fastest choices."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from coarsen.tuning.search.evaluator import Budget, Evaluator
from coarsen.tuning.search.guided import Proposals, expected_improvement
from coarsen.tuning.search.spaces import Choice, valid_choices
from coarsen.tuning.search.surrogate import Floats, Predicted, Surrogate
from tests.opencl_bench.search.tables import FunctionEvaluator, space_of

SPACE = space_of((5, 4, 3))


class Fixed(Surrogate):
    """A model that expects of a choice the index on one axis, whatever was measured."""

    def __init__(self, place: int) -> None:
        super().__init__(lambda choices: np.array(choices, np.float64).reshape(len(choices), len(SPACE.axes)))
        self._place = place

    def _learned(self, rows: Floats, differences: Floats, seed: int) -> Callable[[Floats], Predicted]:
        # The values of the axes are their indices.
        return lambda asked: Predicted(asked[:, self._place], np.ones(len(asked)))


def tried(*choices: Choice) -> Evaluator:
    evaluator = FunctionEvaluator(SPACE, lambda choice: 1.0 + sum(choice)).keep_to(Budget())
    for choice in choices:
        evaluator.evaluate(choice)
    return evaluator


def test_expected_improvement_of_sure_and_of_unsure_predictions() -> None:
    predicted = Predicted(np.array([-1.0, 2.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 2.0]))
    # φ(0) = 0.3989…; twice the deviation is twice the chance.
    assert expected_improvement(predicted, 0.0) == pytest.approx([1.0, 0.0, 0.39894, 0.79788], abs=1e-4)


def test_both_models_and_the_steps_propose_by_turns() -> None:
    evaluator = tried((2, 2, 1), (4, 3, 2))
    fresh = [choice for choice in valid_choices(SPACE) if not evaluator.has_tried(choice)]
    proposals = Proposals(forest=Fixed(1), process=Fixed(0), centers=1)
    first, second, *_ = proposed = proposals.next(evaluator, fresh, 9, random.Random(0))
    assert len(proposed) == len(set(proposed)) == 9
    assert not any(map(evaluator.has_tried, proposed))
    assert first == (0, 0, 0), "the least of what both models predict"
    assert second == (2, 0, 1), "the fastest choice, with the value changed of which the forest expects most"
    near = [choice for choice in proposed if sum(a != b for a, b in zip(choice, (2, 2, 1), strict=True)) == 1]
    assert {next(p for p in range(3) if choice[p] != (2, 2, 1)[p]) for choice in near} == {0, 1, 2}


def test_steps_are_taken_from_the_fastest_by_turns() -> None:
    evaluator = tried((0, 0, 0), (1, 1, 1), (4, 3, 2))
    fresh = [choice for choice in valid_choices(SPACE) if not evaluator.has_tried(choice)]
    proposals = Proposals(forest=Fixed(1), process=Fixed(0), centers=2)
    for _ in range(4):
        proposals.next(evaluator, fresh, 3, random.Random(0))
    assert proposals.steps_taken == {(0, 0, 0): 2, (1, 1, 1): 2}
