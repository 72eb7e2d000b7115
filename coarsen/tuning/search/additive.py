"""Guided profiling (Weber, Amend, Goesele, PMBS 2015): predict that options add up, measure the best predicted.

    bases and supports ──▶ additive models ──▶ the five least sums, measured ──▶ the best of everything measured

`PAPER` is what the paper does: every combination of the shared options is a base, nothing else is measured. The
defaults differ: few bases, relay supports, and ten held-out points that tell whether the options add up at all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coarsen.tuning.search.additive_design import (
    AdditiveModel,
    Design,
    base_count,
    combinations,
    few_combinations,
    measure_design,
    origin_of,
    planned_choices,
    predictable_share,
    ranked,
)
from coarsen.tuning.search.evaluator import Budget, BudgetedEvaluator, BudgetSpentError, Evaluator
from coarsen.tuning.search.exhaustive import SPENT, try_all
from coarsen.tuning.search.searcher import Additivity, Found, fastest, judged
from coarsen.tuning.search.spaces import Choice, SearchSpace, has_at_most, random_order

# Ranked choices looked at, valid or not, before the search for the next best one is given up.
_MOST_RANKED = 300_000
_DRAWS_FOR_EACH = 200
PREDICTED = "the best predicted choices were measured"
NO_BASE = "no base could run"
NOTHING_VALID = "the space has no valid choice"


@dataclass(frozen=True, slots=True)
class AdditiveSearcher:
    """Predicts by equation 7 from bases and supports, and measures the best predicted choices.

    Attributes:
        bases: "all" combinations of the shared options, or "few": the default one and three more.
        preferred: choices whose shared values are the first of few bases, best first; what is missing is drawn.
        start: what has the independent values of the bases: the "default" choice, or one drawn at "random".
        log_times: add up logarithms of times: options multiply the time instead of adding to it.
        relays: replace invalid supports.
        watch_dog: end supports that are slower than the best of their group.
        checks: how many of the best predicted choices are measured; five in the paper.
        held_out: how many more predicted choices, drawn at random, are measured to judge the predictions.
        name: by which a user asks for it.
    """

    bases: Literal["few", "all"] = "few"
    preferred: tuple[Choice, ...] = ()
    start: Literal["default", "random"] = "default"
    log_times: bool = False
    relays: bool = True
    watch_dog: bool = False
    checks: int = 5
    held_out: int = 10
    name: str = "additive"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search by prediction, or exhaustively where the valid choices are no more than that would measure.

        Args:
            evaluator: the only way to a time.
            budget: where it is too small for bases and supports, predictions are made from those that it allows.
            seed: of the bases and held-out points that are drawn.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted.
        """
        space, budgeted, draw = evaluator.space, BudgetedEvaluator(evaluator, budget), random.Random(seed)
        origin = self.origin(space, draw)
        if origin is None:
            return Found(None, evaluator.trace, NOTHING_VALID)
        places = self.combinations(space, origin, draw)
        runs = self._runs(space, places)
        if has_at_most(space, runs):
            note = f"the space has no more valid choices than the {runs} that would be measured: exhaustive search"
            ending = try_all(budgeted)
            return Found(fastest(evaluator.trace), evaluator.trace, ending, (note,))
        design = self.design(_without(budgeted, self.checks), places)
        if not design.models:
            return Found(fastest(evaluator.trace), evaluator.trace, NO_BASE, design.notes())
        ending, additivity = self._check(budgeted, design.models, draw)
        notes = (*self._bases_note(space, places), *design.notes(), *_verdict_notes(space, design, additivity))
        return Found(fastest(evaluator.trace), evaluator.trace, ending, notes, additivity)

    def origin(self, space: SearchSpace, draw: random.Random) -> Choice | None:
        """Return the valid choice whose independent values the bases have; None where nothing is valid."""
        if self.start == "random":
            return next(random_order(space, draw), None)
        return origin_of(space, (0,) * len(space.axes))

    def combinations(self, space: SearchSpace, origin: Choice, draw: random.Random) -> Sequence[Choice]:
        """Return the combinations of shared values that get a base, beside the independent values of `origin`."""
        if self.bases == "all":
            return list(combinations(space, origin))
        return few_combinations(space, origin, self.preferred, draw)

    def design(self, evaluator: BudgetedEvaluator, places: Sequence[Choice]) -> Design:
        """Measure bases and supports, as far as the budget goes."""
        return measure_design(evaluator, places, self.relays, self.watch_dog, self.log_times)

    def _runs(self, space: SearchSpace, places: Sequence[Choice]) -> int:
        return len(planned_choices(space, places, self.relays)) + self.checks + self.held_out

    def _check(
        self, evaluator: BudgetedEvaluator, models: Sequence[AdditiveModel], draw: random.Random
    ) -> tuple[str, Additivity | None]:
        """Measure the best predicted choices, then held-out ones; say how that ended and what it tells."""
        predicted: dict[Choice, float] = {}
        ending = PREDICTED
        try:
            _measure(evaluator, best_predicted(evaluator, models, self.checks), predicted)
            _measure(evaluator, self._held_out(evaluator, models, draw), predicted)
        except BudgetSpentError:
            ending = SPENT
        times = {trial.choice: trial.time for trial in evaluator.trace if trial.time is not None}
        both = [(time, times[choice]) for choice, time in predicted.items() if choice in times]
        return ending, judged([time for time, _ in both], [time for _, time in both], self.log_times)

    def _held_out(
        self, evaluator: BudgetedEvaluator, models: Sequence[AdditiveModel], draw: random.Random
    ) -> list[tuple[Choice, float]]:
        """Draw choices that are predicted and not measured yet."""
        found: dict[Choice, float] = {}
        for _ in range(_DRAWS_FOR_EACH * self.held_out):
            if len(found) == self.held_out:
                break
            model = draw.choice(models)
            choice = tuple(draw.choice(list(terms)) for terms in model.terms)
            if not evaluator.has_tried(choice) and evaluator.space.is_valid(choice):
                found[choice] = model.predicted(choice)
        return list(found.items())

    def _bases_note(self, space: SearchSpace, places: Sequence[Choice]) -> tuple[str, ...]:
        if self.bases == "all" or len(places) == base_count(space):
            return ()
        return (f"{len(places)} of {base_count(space)} combinations of the shared options have a base",)


PAPER = AdditiveSearcher(bases="all", relays=False, held_out=0, name="additive-paper")


def best_predicted(
    evaluator: BudgetedEvaluator, models: Sequence[AdditiveModel], count: int
) -> list[tuple[Choice, float]]:
    """Return the valid choices with the least predicted times that are not measured yet, best first."""
    fresh = (
        (choice, time)
        for time, choice in itertools.islice(ranked(models), _MOST_RANKED)
        if not evaluator.has_tried(choice) and evaluator.space.is_valid(choice)
    )
    return list(itertools.islice(fresh, count))


def _measure(
    evaluator: BudgetedEvaluator, predictions: Sequence[tuple[Choice, float]], measured: dict[Choice, float]
) -> None:
    """Measure what was predicted, and note the prediction of each that was tried."""
    evaluator.prepare([choice for choice, _ in predictions])
    for choice, time in predictions:
        evaluator.evaluate(choice)
        measured[choice] = time


def _without(evaluator: BudgetedEvaluator, reserved: int) -> BudgetedEvaluator:
    """The same evaluator with some trials of its budget kept for later, at most half of what is left."""
    if evaluator.left is None:
        return evaluator
    kept = evaluator.left - min(reserved, evaluator.left // 2)
    return BudgetedEvaluator(evaluator, Budget(trials=max(1, evaluator.tried + kept)))


def _verdict_notes(space: SearchSpace, design: Design, additivity: Additivity | None) -> tuple[str, ...]:
    share = predictable_share(space, design.models, random.Random(0))
    covered = f"the predictions cover {share:.1%} of the valid choices"
    return (covered, *((str(additivity),) if additivity is not None else ()))
