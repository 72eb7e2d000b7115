"""Guided search: a few random choices, then rounds that models of what was measured propose.

    base and random choices ──▶ two models of log times ──▶ a round of choices, measured ──┐
                                       ▲──────────── fitted again on everything measured ──┘

The models learn what the options do together, and their uncertainty says where to look. The search ends when the
budget is spent; without one, after some rounds without gain.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from coarsen.tuning.search.evaluator import Evaluator
from coarsen.tuning.search.exhaustive import try_all
from coarsen.tuning.search.guided_models import Forest, GaussianProcess, check_package
from coarsen.tuning.search.searcher import Searcher, fastest, run_rounds, time_of
from coarsen.tuning.search.spaces import Choice, default_choice, has_at_most, neighbours
from coarsen.tuning.search.surrogate import Candidates, Floats, Predict, Predicted, Surrogate, log_times

# So many choices come before the models are fitted.
FIRST_CHOICES = 10
# So many are measured before they are fitted again, and at least such a share of what was tried.
ROUND_SIZE = 6
_GROWTH = 0.06
# Rounds without gain that end a search.
PATIENCE = 5
# The trials of the shortest search.
SHORTEST = FIRST_CHOICES + ROUND_SIZE * PATIENCE


@dataclass(frozen=True, slots=True)
class GuidedSearcher(Searcher):
    """Searches by two models of what was measured; or exhaustively where the shortest search would try everything.

    Attributes:
        trees: of the forest.
    """

    trees: int = 50
    name: ClassVar[str] = "guided"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`.

        Raises:
            InvalidInputError: scikit-learn is missing.
            BudgetSpentError: the budget is spent.
        """
        check_package()
        space = evaluator.space
        if has_at_most(space, SHORTEST):
            evaluator.notes.append(f"the space has no more than {SHORTEST} valid choices: exhaustive search")
            return try_all(evaluator)
        proposals = Proposals(Forest(space, self.trees), GaussianProcess(space))
        candidates = Candidates(evaluator)
        self._start(evaluator, draw)
        return run_rounds(
            evaluator,
            lambda: self._proposed(evaluator, proposals, candidates.fresh(draw), draw),
            math.inf if evaluator.budget.is_limited else PATIENCE,
        )

    def _start(self, evaluator: Evaluator, draw: random.Random) -> None:
        """Measure the default choice, then random ones; a small budget has half of it so."""
        trials = FIRST_CHOICES if evaluator.left is None else min(FIRST_CHOICES, max(1, evaluator.left // 2))
        default = default_choice(evaluator.space)
        fresh = Candidates(evaluator).fresh(draw)
        ordered = dict.fromkeys((*([default] if default is not None else []), *fresh))
        evaluator.try_all(itertools.islice(ordered, trials), ROUND_SIZE)

    def _proposed(
        self, evaluator: Evaluator, proposals: Proposals, fresh: list[Choice], draw: random.Random
    ) -> list[Choice]:
        """The choices of the next round; where nothing could run yet, any."""
        count = max(ROUND_SIZE, int(_GROWTH * evaluator.tried))
        if not fresh or fastest(evaluator.trace) is None:
            return fresh[:count]
        return proposals.next(evaluator, fresh, count, draw)


# The choices of a round of guided search: by turns what two models expect most of, and steps from the fastest.
#
#     Gaussian process ── expected improvement ──┐
#     forest           ── expected improvement ──┼── by turns ──▶ the round
#     one of the fastest, one axis changed ──────┘
#
# The models err in different ways: the process is smooth, and the forest has steps. Both may overlook a value that
# was never tried beside the others of a good choice, hence the third: of each axis the value that the forest
# expects most of, all others as they are.

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

    def next(self, evaluator: Evaluator, fresh: Sequence[Choice], count: int, draw: random.Random) -> list[Choice]:
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
            _most_improving(process(fresh), fresh, best, count),
            _most_improving(forest(fresh), fresh, best, count),
            self._steps(evaluator, forest, best),
        ]
        return list(itertools.islice(dict.fromkeys(_by_turns(ranked)), count))

    def _steps(self, evaluator: Evaluator, forest: Predict, best: float) -> list[Choice]:
        """The most promising step along each axis from one of the fastest choices, the most promising first."""
        ran = sorted((trial for trial in evaluator.trace if trial.time is not None), key=time_of)
        center = min((each.choice for each in ran[: self.centers]), key=lambda each: self.steps_taken.get(each, 0))
        self.steps_taken[center] = self.steps_taken.get(center, 0) + 1
        near = [choice for choice in neighbours(evaluator.space, center) if not evaluator.has_tried(choice)]
        if not near:
            return []
        ordered = _most_improving(forest(near), near, best, len(near))
        first: dict[int, Choice] = {}
        for choice in ordered:
            place = next(place for place, index in enumerate(choice) if index != center[place])
            first.setdefault(place, choice)
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
