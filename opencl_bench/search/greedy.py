"""Greedy search, as Weber et al. (2015, section 6) describe that of Liu, Zhang and Shen (IPDPS 2008).

One independent axis after another: each of its values with every combination of shared values, all other
independent axes as in the fastest choice so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from coarsen.opencl_bench.search.additive_design import origin_of
from coarsen.opencl_bench.search.additive_plan import changed, combinations
from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator, Trial
from coarsen.opencl_bench.search.exhaustive import SPENT
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.rounds import in_rounds
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, independent_places
from coarsen.opencl_bench.search.watch_dog import WatchDog

NO_GAIN = "a pass over all axes brought no gain"
PASSED = "every axis was passed"


@dataclass(frozen=True, slots=True)
class GreedySearcher:
    """Optimises one independent axis after another.

    Attributes:
        watch_dog: end every run that is slower than the fastest so far.
        passes: how often all axes are passed at most, one in the paper; None goes on until a pass brings no gain.
    """

    watch_dog: bool = False
    passes: int | None = 1

    name: ClassVar[str] = "greedy"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search from the valid choice nearest to the default one; the seed has no effect."""
        budgeted = BudgetedEvaluator(evaluator, budget)
        try:
            ending = self._pass(WatchDog(budgeted, self.watch_dog))
        except BudgetSpentError:
            ending = SPENT
        return Found(fastest(evaluator.trace), evaluator.trace, ending)

    def _pass(self, watched: WatchDog) -> str:
        here = origin_of(watched.evaluator.space, (0,) * len(watched.evaluator.space.axes))
        done = 0
        while here is not None and (self.passes is None or done < self.passes):
            before = fastest(watched.evaluator.trace)
            here = _one_pass(watched, here)
            done += 1
            if done > 1 and fastest(watched.evaluator.trace) == before:
                return NO_GAIN
        return PASSED


def _one_pass(watched: WatchDog, here: Choice) -> Choice:
    space = watched.evaluator.space
    for place in independent_places(space) or (None,):
        for choice in in_rounds(watched.evaluator, _varied(space, here, place)):
            watched.evaluate(choice)
        here = _choice_of(fastest(watched.evaluator.trace), here)
    return here


def _varied(space: SearchSpace, here: Choice, place: int | None) -> Iterator[Choice]:
    """Enumerate the valid choices with any values of the shared axes and of one independent one, if any is."""
    near = [here] if place is None else [changed(here, place, i) for i in range(len(space.axes[place].values))]
    return (choice for start in near for choice in combinations(space, start) if space.is_valid(choice))


def _choice_of(best: Trial | None, otherwise: Choice) -> Choice:
    return otherwise if best is None else best.choice
