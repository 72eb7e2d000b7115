"""The watch-dog of Weber et al. (2015, sections 3.2 and 5.2): the rules by which slow runs are ended.

    naive    one limit for all: the fastest so far (exhaustive, random and greedy search)
    groups   one limit for the supports of one base along one axis: the fastest of them, the base among them

A base is never killed, because every prediction needs its time. It is the first of each of its groups, which thus
keep at least one value. A killed value has only a bound, and leaves the ranking: the minimum of its group is
known, which is all that the search for a minimum needs.

This is not the limit that `coarsen bench` sets on every run, ten times the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.opencl_bench.search.budget import BudgetedEvaluator
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.spaces import Choice


@dataclass(slots=True)
class WatchDog:
    """Ends runs that are slower than the fastest of their group so far.

    Attributes:
        evaluator: tries the choices.
        is_on: False lets every run end by itself.
        fastest: the time that no run may exceed, in the unit of the trials; infinity before the first.
    """

    evaluator: BudgetedEvaluator
    is_on: bool = True
    fastest: float = math.inf

    def evaluate(self, choice: Choice) -> Trial:
        """Try a choice within the limit, which falls to its time.

        Raises:
            BudgetSpentError: the choice is a new one, and the budget is spent.
        """
        if not self.is_on or math.isinf(self.fastest):
            trial = self.evaluator.evaluate(choice)
        else:
            trial = self.evaluator.evaluate_within(choice, self.fastest)
        if trial.time is not None:
            self.fastest = min(self.fastest, trial.time)
        return trial
