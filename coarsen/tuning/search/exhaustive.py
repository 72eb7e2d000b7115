"""Searchers without a model: every choice in ascending order, choices at random, and a staircase."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from coarsen.tuning.search.evaluator import Budget, BudgetedEvaluator, BudgetSpentError, Evaluator, in_rounds
from coarsen.tuning.search.parameters import Parameters, Vector
from coarsen.tuning.search.searcher import Found, fastest, time_of
from coarsen.tuning.search.spaces import is_shuffled, random_order, valid_choices

COMPLETE = "every valid choice was tried"
SPENT = "the budget was spent"


@dataclass(frozen=True, slots=True)
class ExhaustiveSearcher:
    """Tries every valid choice."""

    name: ClassVar[str] = "exhaustive"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Try every valid choice, as far as the budget goes; the seed has no effect."""
        ending = try_all(BudgetedEvaluator(evaluator, budget))
        return Found(fastest(evaluator.trace), evaluator.trace, ending)


def try_all(evaluator: BudgetedEvaluator) -> str:
    """Try every valid choice, as far as the budget goes; say how that ended."""
    try:
        for choice in in_rounds(evaluator, valid_choices(evaluator.space)):
            evaluator.evaluate(choice)
    except BudgetSpentError:
        return SPENT
    return COMPLETE


DRAWN_OUT = "no further valid choice was drawn"


@dataclass(frozen=True, slots=True)
class RandomSearcher:
    """Draws valid choices without replacement (R in Weber et al. 2015, section 6)."""

    name: ClassVar[str] = "random"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Try random choices, as far as the budget and the space go."""
        ending = _try_at_random(BudgetedEvaluator(evaluator, budget), random.Random(seed))
        return Found(fastest(evaluator.trace), evaluator.trace, ending)


def _try_at_random(evaluator: BudgetedEvaluator, draw: random.Random) -> str:
    try:
        for choice in in_rounds(evaluator, random_order(evaluator.space, draw)):
            evaluator.evaluate(choice)
    except BudgetSpentError:
        return SPENT
    return COMPLETE if is_shuffled(evaluator.space) else DRAWN_OUT


# The search of Liu, Zhang and Shen (IPDPS 2009): a staircase from the least values of all parameters up.
#
#     base ──▶ each parameter one step higher, the others unchanged ──▶ the fastest of these is the base ──▶ …
#
# The fastest of those just tried becomes the base also where it is slower than the old one: the search crosses
# ridges that a descent stops at. A parameter at its largest value isn't raised any more; when all are, the search
# ends with the fastest of all that it met. With one parameter it tries every value.

REACHED = "the largest values of all parameters were reached"


@dataclass(frozen=True, slots=True)
class StaircaseSearcher:
    """Raises one parameter after another.

    What fails or breaks a constraint takes infinitely long; it becomes the base where all that were tried do so.
    Of equally fast ones the first parameter's is taken.
    """

    name: ClassVar[str] = "staircase"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search from the least values to the largest, as far as the budget goes; the seed has no effect."""
        budgeted = BudgetedEvaluator(evaluator, budget)
        parameters = Parameters(evaluator.space)
        try:
            base: Vector = (0,) * len(parameters.lengths)
            _times(budgeted, parameters, [base])
            while raised := _raised(parameters, base):
                times = _times(budgeted, parameters, raised)
                base = raised[times.index(min(times))]
            ending = REACHED
        except BudgetSpentError:
            ending = SPENT
        return Found(fastest(evaluator.trace), evaluator.trace, ending)


def _raised(parameters: Parameters, base: Vector) -> list[Vector]:
    """The vectors with one parameter a step higher."""
    return [
        (*base[:place], step + 1, *base[place + 1 :])
        for place, step in enumerate(base)
        if step + 1 < parameters.lengths[place]
    ]


def _times(evaluator: BudgetedEvaluator, parameters: Parameters, vectors: Sequence[Vector]) -> list[float]:
    """The time of each vector; infinity for one that failed or is invalid."""
    choices = [parameters.choice(vector) for vector in vectors]
    for choice in in_rounds(evaluator, (choice for choice in choices if choice is not None)):
        evaluator.evaluate(choice)
    return [math.inf if choice is None else time_of(evaluator.evaluate(choice)) for choice in choices]
