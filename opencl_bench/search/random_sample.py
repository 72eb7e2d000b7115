"""Random search: valid choices, all equally likely, none twice."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.exhaustive import COMPLETE, SPENT
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.rounds import in_rounds
from coarsen.opencl_bench.search.sampling import is_shuffled, random_order

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
