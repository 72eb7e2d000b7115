"""Guided profiling (Weber, Amend, Goesele, PMBS 2015): predict that options add up, measure the best predicted.

    bases and supports ──▶ additive models ──▶ the five least sums, measured ──▶ the best of everything measured

The paper makes every combination of the shared options a base, and measures nothing else. Here are four bases at
most, relay supports, and ten held-out points that tell whether the options add up at all.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coarsen.tuning.search.additive_design import (
    AdditiveModel,
    base_count,
    few_combinations,
    measure_design,
    origin_of,
    planned_choices,
    predictable_share,
    ranked,
)
from coarsen.tuning.search.evaluator import Evaluator
from coarsen.tuning.search.exhaustive import try_all
from coarsen.tuning.search.searcher import Searcher
from coarsen.tuning.search.spaces import Choice, has_at_most

# Ranked choices looked at, valid or not, before the search for the next best one is given up.
_MOST_RANKED = 300_000
_DRAWS_FOR_EACH = 200
# How many of the best predicted choices are measured, as in the paper.
_CHECKS = 5
PREDICTED = "the best predicted choices were measured"
NO_BASE = "no base could run"
NOTHING_VALID = "the space has no valid choice"


@dataclass(frozen=True, slots=True)
class AdditiveSearcher(Searcher):
    """Predicts by equation 7 from bases and supports, and measures the best predicted choices.

    Where the valid choices are no more than that would measure, all are. Where the budget is too small for bases
    and supports, predictions are made from those that it allows.

    Attributes:
        held_out: how many more predicted choices, drawn at random, are measured to judge the predictions.
    """

    held_out: int = 10
    name: ClassVar[str] = "additive"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`."""
        space = evaluator.space
        origin = origin_of(space, (0,) * len(space.axes))
        if origin is None:
            return NOTHING_VALID
        places = few_combinations(space, origin, draw)
        runs = len(planned_choices(space, places)) + _CHECKS + self.held_out
        if has_at_most(space, runs):
            evaluator.notes.append(
                f"the space has no more valid choices than the {runs} that would be measured: exhaustive search"
            )
            return try_all(evaluator)
        if len(places) < base_count(space):
            bases = f"{len(places)} of {base_count(space)} combinations of the shared options have a base"
            evaluator.notes.append(bases)
        with evaluator.reserving(_CHECKS):
            models = measure_design(evaluator, places)
        if not models:
            return NO_BASE
        share = predictable_share(space, models, random.Random(0))
        evaluator.notes.append(f"the predictions cover {share:.1%} of the valid choices")
        self._check(evaluator, models, draw)
        return PREDICTED

    def _check(self, evaluator: Evaluator, models: Sequence[AdditiveModel], draw: random.Random) -> None:
        """Measure the best predicted choices, then held-out ones, and tell how right the predictions were."""
        predicted: dict[Choice, float] = {}
        is_valid = evaluator.space.is_valid
        try:
            ordered = itertools.islice(ranked(models), _MOST_RANKED)
            fresh = ((each, time) for time, each in ordered if not evaluator.has_tried(each) and is_valid(each))
            predicted |= itertools.islice(fresh, _CHECKS)
            evaluator.try_all(predicted)
            held_out = self._held_out(evaluator, models, draw)
            predicted |= held_out
            evaluator.try_all(held_out)
        finally:
            times = evaluator.times
            both = [(time, times[choice]) for choice, time in predicted.items() if choice in times]
            evaluator.notes += [verdict(both)] if both else []

    def _held_out(
        self, evaluator: Evaluator, models: Sequence[AdditiveModel], draw: random.Random
    ) -> dict[Choice, float]:
        """Draw choices that are predicted and not measured yet."""
        found: dict[Choice, float] = {}
        for _ in range(_DRAWS_FOR_EACH * self.held_out):
            if len(found) == self.held_out:
                break
            model = draw.choice(models)
            choice = tuple(draw.choice(list(terms)) for terms in model.terms)
            if not evaluator.has_tried(choice) and evaluator.space.is_valid(choice):
                found[choice] = model.predicted(choice)
        return found


# At least this share of the variance must be predicted, or the error be at most this share of the time.
_LEAST_R_SQUARED = 0.75
_MOST_ERROR = 0.05
_LEAST_POINTS = 3
NOT_ADDITIVE = "these options are not additive"


def verdict(both: Sequence[tuple[float, float]]) -> str:
    """Say whether options add up, by points that were measured after their times were predicted.

    Args:
        both: the predicted and the measured time of each point, at least one; linear predictions may be below 0.
    """
    predicted, measured = np.array(both).T
    error = float(np.sqrt(np.mean(((predicted - measured) / measured) ** 2)))
    spread = float(((measured - measured.mean()) ** 2).sum())
    r_squared = math.nan
    if len(both) >= _LEAST_POINTS and spread > 0:
        r_squared = 1 - float(((predicted - measured) ** 2).sum()) / spread
    is_additive = r_squared >= _LEAST_R_SQUARED or error <= _MOST_ERROR
    words = "these options are additive" if is_additive else NOT_ADDITIVE
    share = "" if math.isnan(r_squared) else f"R² {r_squared:.2f}, "
    return f"{words}: {share}error {error:.1%} on {len(both)} held-out points"
