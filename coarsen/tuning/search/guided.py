"""Guided search: a few random choices, then rounds that models of what was measured propose.

    base and random choices ──▶ two models of log times ──▶ a round of choices, measured ──┐
                                       ▲──────────── fitted again on everything measured ──┘

Where options do not add up (tile and block sizes), additive prediction measures the wrong five; these models learn
what the options do together, and their uncertainty says where to look. The search ends when the
budget is spent; without one, after some rounds without gain. It also says whether the options would have added up.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from coarsen.tuning.search.additive_design import origin_of
from coarsen.tuning.search.evaluator import Budget, BudgetedEvaluator, BudgetSpentError, Evaluator, in_rounds
from coarsen.tuning.search.exhaustive import COMPLETE, SPENT, try_all
from coarsen.tuning.search.forest import Forest
from coarsen.tuning.search.gaussian_process import GaussianProcess
from coarsen.tuning.search.searcher import Found, cross_validated, fastest, time_of
from coarsen.tuning.search.spaces import Choice, has_at_most, neighbours
from coarsen.tuning.search.surrogate import (
    Candidates,
    Fitted,
    Floats,
    Predicted,
    Prior,
    ProductEncoding,
    Surrogate,
    log_times,
    promising_first,
)


@dataclass(frozen=True, slots=True)
class GuidedSearcher:
    """Searches by two models of what was measured.

    Attributes:
        first_choices: how many come before the models are fitted: the default, then random ones. A smaller budget
            has half of it random.
        round_size: how many choices are measured before the models are fitted again.
        growth: the share of what was tried that a round has, where that is more.
        patience: how many rounds without gain end a search that has no budget.
        stops_early: whether they also end one that has a budget left; a few rounds are a short time to wait.
        trees: of the forest.
        centers: from how many of the fastest choices single values are changed.
        prior: what is expected of a choice before anything is measured. With one, every other of the first choices
            is one of which it expects most, and the models learn how times differ from what is expected. None:
            nothing is expected.
    """

    first_choices: int = 10
    round_size: int = 6
    growth: float = 0.06
    patience: int = 5
    stops_early: bool = False
    trees: int = 50
    centers: int = 3
    prior: Prior | None = None

    name: ClassVar[str] = "guided"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search by prediction, or exhaustively where the shortest such search would measure everything.

        Raises:
            InvalidInputError: scikit-learn is missing, or the budget a share of a space too large to be counted.
        """
        space = evaluator.space
        forest = Forest(space, self.trees, self.prior, ProductEncoding(space))
        proposals = Proposals(forest, GaussianProcess(space, self.prior), self.centers)
        budgeted = BudgetedEvaluator(evaluator, budget)
        shortest = self.first_choices + self.round_size * self.patience
        if has_at_most(space, shortest):
            note = f"the space has no more than {shortest} valid choices: exhaustive search"
            return Found(None, (), try_all(budgeted), (note,)).with_trials(evaluator.trace)
        draw = random.Random(seed)
        notes = self._start_notes(budgeted)
        try:
            self._start(budgeted, draw)
            ending = self._rounds(budgeted, proposals, self._most_vain(budget), draw)
        except BudgetSpentError:
            ending = SPENT
        additivity = cross_validated(space, evaluator.trace)
        said = (*notes, *((str(additivity),) if additivity is not None else ()))
        return Found(None, (), ending, said, additivity).with_trials(evaluator.trace)

    def _most_vain(self, budget: Budget) -> float:
        return self.patience if self.stops_early or not budget.is_limited else math.inf

    def _start_trials(self, evaluator: BudgetedEvaluator) -> int:
        if evaluator.left is None:
            return self.first_choices
        return min(self.first_choices, max(1, evaluator.left // 2))

    def _start_notes(self, evaluator: BudgetedEvaluator) -> tuple[str, ...]:
        if self.prior is None:
            return ()
        trials = self._start_trials(evaluator)
        return (f"of the first {trials} trials half are what was expected to be fastest, the others random",)

    def _start(self, evaluator: BudgetedEvaluator, draw: random.Random) -> None:
        """Measure the default choice, then random ones; with a prior by turns what is expected to be fast."""
        space = evaluator.space
        default = origin_of(space, (0,) * len(space.axes))
        fresh = Candidates(evaluator).fresh(draw)
        turns = fresh
        if self.prior is not None:
            # By turns with random ones, which tell whether what is expected can be believed.
            promising = promising_first(fresh, self.prior)
            turns = list(itertools.chain.from_iterable(zip(promising, fresh, strict=True)))
        ordered = dict.fromkeys((*([default] if default is not None else []), *turns))
        trials = self._start_trials(evaluator)
        for choice in in_rounds(evaluator, itertools.islice(ordered, trials), self.round_size):
            evaluator.evaluate(choice)

    def _rounds(
        self, evaluator: BudgetedEvaluator, proposals: Proposals, most_vain: float, draw: random.Random
    ) -> str:
        candidates = Candidates(evaluator)
        vain = 0
        while vain < most_vain:
            before = fastest(evaluator.trace)
            proposed = self._proposed(evaluator, proposals, candidates.fresh(draw), draw)
            if not proposed:
                return COMPLETE
            evaluator.prepare(proposed)
            for choice in proposed:
                evaluator.evaluate(choice)
            vain = vain + 1 if fastest(evaluator.trace) == before else 0
        return f"{self.patience} rounds brought no gain"

    def _proposed(
        self, evaluator: BudgetedEvaluator, proposals: Proposals, fresh: list[Choice], draw: random.Random
    ) -> list[Choice]:
        """The choices of the next round; where nothing could run yet, any."""
        count = max(self.round_size, int(self.growth * evaluator.tried))
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
