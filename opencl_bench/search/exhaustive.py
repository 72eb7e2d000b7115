"""Exhaustive search: every valid choice, in ascending order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.rounds import in_rounds
from coarsen.opencl_bench.search.spaces import valid_choices

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
