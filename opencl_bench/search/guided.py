"""Guided search: additive prediction as the initial design, then rounds of five that a forest proposes.

    bases, supports, five checks ──▶ forest on log times ──▶ five least lower bounds, measured ──┐
                                          ▲──────────────── refitted on everything measured ─────┘

Where options do not add up (tile and block sizes), additive prediction measures the wrong five; the forest learns
what they do together, and its uncertainty says where to look. The search ends when the budget is spent; without
one, after three rounds without gain.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from coarsen.opencl_bench.search.additive import AdditiveSearcher
from coarsen.opencl_bench.search.additive_design import origin_of
from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.candidates import Candidates
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.exhaustive import COMPLETE, SPENT, try_all
from coarsen.opencl_bench.search.forest import Forest
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.prior import Prior, promising_first
from coarsen.opencl_bench.search.random_sample import RandomSearcher
from coarsen.opencl_bench.search.rounds import in_rounds
from coarsen.opencl_bench.search.spaces import Choice, has_at_most


@dataclass(frozen=True, slots=True)
class GuidedSearcher:
    """Searches by an additive design and a forest.

    Attributes:
        initial: the additive search that comes first.
        design_share: where that needs more than this share of the budget, random choices come first instead.
        round_size: how many choices are measured before the forest is fitted again.
        patience: how many rounds without gain end a search that has no budget.
        stops_early: whether they also end one that has a budget left; three rounds are a short time to wait.
        trees: of the forest.
        deviations: how many standard deviations of the trees below their mean a choice is ranked by.
        prior: what is expected of a choice before anything is measured. With one, the choices of which it expects
            most come first where the budget is in seconds or too small for the design, and the forest learns how
            times differ from what is expected. None: nothing is expected.
        first_choices: how many of those come first, at most.
    """

    initial: AdditiveSearcher = field(default_factory=AdditiveSearcher)
    design_share: float = 0.5
    round_size: int = 5
    patience: int = 3
    stops_early: bool = False
    trees: int = 100
    deviations: float = 1.0
    prior: Prior | None = None
    first_choices: int = 10

    name: ClassVar[str] = "guided"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search by prediction, or exhaustively where that would measure everything.

        Raises:
            InvalidInputError: scikit-learn is missing, or the budget a share of a space too large to be counted.
        """
        forest = Forest(evaluator.space, self.trees, self.prior)
        budgeted = BudgetedEvaluator(evaluator, budget)
        runs = self.initial.planned_runs(evaluator.space, seed)
        shortest = runs + self.round_size * self.patience
        if has_at_most(evaluator.space, shortest):
            note = f"the space has no more than {shortest} valid choices: exhaustive search"
            return _found(evaluator, Found(None, (), try_all(budgeted), (note,)))
        started = self._start(budgeted, budget, runs, seed)
        if started.ending == SPENT:
            return _found(evaluator, started)
        patience = self.patience if self.stops_early or not budget.is_limited else math.inf
        return _found(
            evaluator, replace(started, ending=self._rounds(budgeted, forest, patience, random.Random(seed)))
        )

    def _start(self, evaluator: BudgetedEvaluator, budget: Budget, runs: int, seed: int) -> Found:
        """Measure the initial design, or what is expected to be fast, or at random, as the budget allows."""
        if evaluator.left is None and budget.seconds is not None and self.prior is not None:
            return self._start_from(self.prior, evaluator, self.first_choices, seed)
        if evaluator.left is None or runs <= self.design_share * evaluator.left:
            return self.initial.search(evaluator, Budget(), seed)
        trials = max(1, int(self.design_share * evaluator.left))
        if self.prior is not None:
            return self._start_from(self.prior, evaluator, min(trials, self.first_choices), seed)
        note = f"the budget is too small for the {runs} trials of the initial design: {trials} random ones instead"
        started = RandomSearcher().search(evaluator, Budget(trials=evaluator.tried + trials), seed)
        return replace(started, ending=COMPLETE, notes=(note,))

    def _start_from(self, prior: Prior, evaluator: BudgetedEvaluator, trials: int, seed: int) -> Found:
        """Measure the default choice, then by turns what is expected to be fast and any."""
        space = evaluator.space
        default = origin_of(space, (0,) * len(space.axes))
        fresh = Candidates(evaluator).fresh(random.Random(seed))
        # By turns with random ones, which tell whether what is expected can be believed.
        turns = itertools.chain.from_iterable(zip(promising_first(fresh, prior), fresh, strict=True))
        ordered = dict.fromkeys((*([default] if default is not None else []), *turns))
        note = f"of the first {trials} trials half are what was expected to be fastest, the others random"
        try:
            for choice in in_rounds(evaluator, itertools.islice(ordered, trials), self.round_size):
                evaluator.evaluate(choice)
        except BudgetSpentError:
            return Found(None, (), SPENT, (note,))
        return Found(None, (), COMPLETE, (note,))

    def _rounds(self, evaluator: BudgetedEvaluator, forest: Forest, patience: float, draw: random.Random) -> str:
        candidates = Candidates(evaluator)
        vain = 0
        while vain < patience:
            before = fastest(evaluator.trace)
            proposed = self._proposed(evaluator, forest, candidates.fresh(draw), draw)
            if not proposed:
                return COMPLETE
            evaluator.prepare(proposed)
            try:
                for choice in proposed:
                    evaluator.evaluate(choice)
            except BudgetSpentError:
                return SPENT
            vain = vain + 1 if fastest(evaluator.trace) == before else 0
        return f"{self.patience} rounds brought no gain"

    def _proposed(
        self, evaluator: BudgetedEvaluator, forest: Forest, fresh: Sequence[Choice], draw: random.Random
    ) -> list[Choice]:
        """Return the choices of the next round; where nothing could run yet, any."""
        if not fresh or fastest(evaluator.trace) is None:
            return list(fresh[: self.round_size])
        bounds = forest.lower_bounds(evaluator.trace, fresh, self.deviations, draw.randrange(2**31))
        return [fresh[number] for number in np.argsort(bounds, kind="stable")[: self.round_size]]


def _found(evaluator: Evaluator, found: Found) -> Found:
    return replace(found, best=fastest(evaluator.trace), trace=evaluator.trace)
