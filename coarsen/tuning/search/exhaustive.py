"""Searchers without a model: every choice in ascending order, choices at random, and a staircase."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from coarsen.tuning.search.evaluator import BudgetedEvaluator
from coarsen.tuning.search.parameters import Parameters, Vector
from coarsen.tuning.search.searcher import COMPLETE, Searcher, time_of
from coarsen.tuning.search.spaces import is_shuffled, random_order, valid_choices

DRAWN_OUT = "no further valid choice was drawn"
REACHED = "the largest values of all parameters were reached"


class ExhaustiveSearcher(Searcher):
    """Tries every valid choice, in ascending order."""

    name = "exhaustive"

    def run(self, evaluator: BudgetedEvaluator, draw: random.Random) -> str:
        """See `Searcher.run`; nothing is random."""
        return try_all(evaluator)


def try_all(evaluator: BudgetedEvaluator) -> str:
    """Try every valid choice; return why that ended. Raises BudgetSpentError."""
    evaluator.try_all(valid_choices(evaluator.space))
    return COMPLETE


class RandomSearcher(Searcher):
    """Draws valid choices without replacement (R in Weber et al. 2015, section 6)."""

    name = "random"

    def run(self, evaluator: BudgetedEvaluator, draw: random.Random) -> str:
        """See `Searcher.run`."""
        evaluator.try_all(random_order(evaluator.space, draw))
        return COMPLETE if is_shuffled(evaluator.space) else DRAWN_OUT


class StaircaseSearcher(Searcher):
    """Raises one parameter after another (Liu, Zhang, Shen, IPDPS 2009).

        base ──▶ each parameter one step higher, the others unchanged ──▶ the fastest of these is the base ──▶ …

    The fastest of those just tried becomes the base also where it is slower than the old one: the search crosses
    ridges that a descent stops at. A parameter at its largest value isn't raised any more; when all are, the
    search ends with the fastest of all that it met. With one parameter it tries every value.

    What fails or breaks a constraint takes infinitely long; it becomes the base where all that were tried do so.
    Of equally fast ones the first parameter's is taken.
    """

    name = "staircase"

    def run(self, evaluator: BudgetedEvaluator, draw: random.Random) -> str:
        """See `Searcher.run`; nothing is random."""
        parameters = Parameters(evaluator.space)
        base: Vector = (0,) * len(parameters.lengths)
        _times(evaluator, parameters, [base])
        while raised := _raised(parameters, base):
            times = _times(evaluator, parameters, raised)
            base = raised[times.index(min(times))]
        return REACHED


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
    evaluator.try_all(choice for choice in choices if choice is not None)
    return [math.inf if choice is None else time_of(evaluator.evaluate(choice)) for choice in choices]
