"""The choices of a round of guided search: by turns what two models expect most of, and steps from the fastest.

    Gaussian process ── expected improvement ──┐
    forest           ── expected improvement ──┼── by turns ──▶ the round
    one of the fastest, one axis changed ──────┘

The models err in different ways: the process is smooth, and the forest has steps. Both may overlook a value that
was never tried beside the others of a good choice, hence the third: of each axis the value that the forest expects
most of, all others as they are.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from coarsen.opencl_bench.search.budget import BudgetedEvaluator
from coarsen.opencl_bench.search.found import time_of
from coarsen.opencl_bench.search.spaces import Choice, neighbours
from coarsen.opencl_bench.search.surrogate import Fitted, Floats, Predicted, Surrogate, log_times

_SEEDS = 2**31
_SMALLEST_DEVIATION = 1e-9


@dataclass(slots=True)
class Proposals:
    """Proposes the next choices of a search.

    Attributes:
        forest: a model with steps; it also ranks the steps from the fastest.
        process: a smooth model.
        centers: from how many of the fastest choices steps are taken, by turns.
        steps_taken: how often steps were taken from a choice.
    """

    forest: Surrogate
    process: Surrogate
    centers: int = 3
    steps_taken: dict[Choice, int] = field(default_factory=dict)

    def next(
        self, evaluator: BudgetedEvaluator, fresh: Sequence[Choice], count: int, draw: random.Random
    ) -> list[Choice]:
        """Return at most so many choices that were not tried, the first ones the most promising.

        Args:
            evaluator: has tried something that has a time.
            fresh: choices that were not tried, at least one.
            count: how many are wanted.
            draw: of the seeds of the models.
        """
        trials = evaluator.trace
        best = float(log_times(trials).min())
        process, forest = (model.fit(trials, draw.randrange(_SEEDS)) for model in (self.process, self.forest))
        ranked = [
            _most_improving(process.predict(fresh), fresh, best, count),
            _most_improving(forest.predict(fresh), fresh, best, count),
            self._steps(evaluator, forest, best),
        ]
        return list(itertools.islice(dict.fromkeys(_by_turns(ranked)), count))

    def _steps(self, evaluator: BudgetedEvaluator, forest: Fitted, best: float) -> list[Choice]:
        """The most promising step along each axis from one of the fastest choices, the most promising first."""
        ran = sorted((trial for trial in evaluator.trace if trial.time is not None), key=time_of)
        center = min((each.choice for each in ran[: self.centers]), key=lambda each: self.steps_taken.get(each, 0))
        self.steps_taken[center] = self.steps_taken.get(center, 0) + 1
        near = [choice for choice in neighbours(evaluator.space, center) if not evaluator.has_tried(choice)]
        if not near:
            return []
        ordered = _most_improving(forest.predict(near), near, best, len(near))
        first: dict[int, Choice] = {}
        for choice in ordered:
            first.setdefault(_changed_place(center, choice), choice)
        return list(first.values())


def expected_improvement(predicted: Predicted, best: float) -> Floats:
    """Return by how much each choice is expected to be faster than the best (Jones et al. 1998), 0 or above.

    Args:
        predicted: log times.
        best: the log time to improve on.
    """
    # Imported late: only this search needs it.
    from scipy.special import ndtr

    deviation = np.maximum(predicted.deviation, _SMALLEST_DEVIATION)
    gain = best - predicted.mean
    ratio = gain / deviation
    density = np.exp(-0.5 * ratio**2) / np.sqrt(2 * np.pi)
    improvement: Floats = np.maximum(gain * ndtr(ratio) + deviation * density, 0.0)
    return improvement


def _most_improving(predicted: Predicted, choices: Sequence[Choice], best: float, count: int) -> list[Choice]:
    """The choices with the largest expected improvement; where there is hardly any, those of least mean first."""
    order = np.lexsort((predicted.mean, -expected_improvement(predicted, best)))
    return [choices[number] for number in order[:count]]


def _by_turns(ranked: Sequence[Sequence[Choice]]) -> Iterator[Choice]:
    """The first of each, then the second of each, and so on."""
    turns = itertools.zip_longest(*ranked)
    return (choice for turn in turns for choice in turn if choice is not None)


def _changed_place(one: Choice, other: Choice) -> int:
    """The first axis in which two choices differ."""
    return next(place for place, (here, there) in enumerate(zip(one, other, strict=True)) if here != there)
