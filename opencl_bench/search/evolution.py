"""Differential evolution (Storn and Price 1997, DE/rand/1/bin) over the indices of the axes.

    mutant = a + F · (b − c), rounded into each axis   ──▶   crossed with a parent   ──▶   the faster of both stays

Population 10 and the end after three generations without gain are those of Weber et al. (2015, section 6), who do
not say F and the rate of crossover: here those that Storn and Price try first. A choice that failed is slower than
any that ran. There is no watch-dog: only the best would keep its time, and nothing would be left to cross.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import ClassVar

from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator, Trial
from coarsen.opencl_bench.search.exhaustive import SPENT, try_all
from coarsen.opencl_bench.search.found import Found, fastest, time_of
from coarsen.opencl_bench.search.sampling import random_order
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, has_at_most

# A mutation needs a parent and three others.
_LEAST_POPULATION = 4
# Mutants drawn for a parent before it stays without a rival, where all of them are invalid.
_DRAWS = 50


@dataclass(frozen=True, slots=True)
class EvolutionSearcher:
    """Evolves a population of choices.

    Attributes:
        population: its size, at least four.
        patience: how many generations without gain end the search.
        weight: F, the factor of the difference of two choices.
        crossover: the probability that an index comes from the mutant.
    """

    population: int = 10
    patience: int = 3
    weight: float = 0.8
    crossover: float = 0.9

    name: ClassVar[str] = "evolution"

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Evolve a random population; a space no larger than the shortest such search is searched exhaustively."""
        budgeted = BudgetedEvaluator(evaluator, budget)
        notes: tuple[str, ...] = ()
        shortest = self.population * (1 + self.patience)
        if has_at_most(evaluator.space, shortest):
            ending = try_all(budgeted)
            notes = (f"the space has no more than {shortest} valid choices: exhaustive search",)
        else:
            ending = self._evolve(budgeted, random.Random(seed))
        return Found(fastest(evaluator.trace), evaluator.trace, ending, notes)

    def _evolve(self, evaluator: BudgetedEvaluator, draw: random.Random) -> str:
        try:
            drawn = random_order(evaluator.space, draw)
            first = list(itertools.islice(drawn, max(self.population, _LEAST_POPULATION)))
            evaluator.prepare(first)
            alive = [evaluator.evaluate(choice) for choice in first]
            if len(alive) < _LEAST_POPULATION:
                return "too few valid choices were drawn"
            vain = 0
            while vain < self.patience:
                best = min(map(time_of, alive))
                alive = self._next_generation(evaluator, alive, draw)
                vain = 0 if min(map(time_of, alive)) < best else vain + 1
        except BudgetSpentError:
            return SPENT
        return f"{self.patience} generations brought no gain"

    def _next_generation(
        self, evaluator: BudgetedEvaluator, alive: list[Trial], draw: random.Random
    ) -> list[Trial]:
        rivals = []
        for number, parent in enumerate(alive):
            others = alive[:number] + alive[number + 1 :]
            rivals.append(self._rival(evaluator.space, parent.choice, [other.choice for other in others], draw))
        evaluator.prepare([rival for rival in rivals if rival is not None])
        return [
            parent if rival is None else min(evaluator.evaluate(rival), parent, key=time_of)
            for parent, rival in zip(alive, rivals, strict=True)
        ]

    def _rival(
        self, space: SearchSpace, parent: Choice, others: list[Choice], draw: random.Random
    ) -> Choice | None:
        for _ in range(_DRAWS):
            rival = self._crossed(space, parent, draw.sample(others, 3), draw)
            if space.is_valid(rival):
                return rival
        return None

    def _crossed(self, space: SearchSpace, parent: Choice, three: list[Choice], draw: random.Random) -> Choice:
        always = draw.randrange(len(parent))
        rival = []
        for place, (here, a, b, c) in enumerate(zip(parent, *three, strict=True)):
            mutated = round(a + self.weight * (b - c)) % len(space.axes[place].values)
            rival.append(mutated if place == always or draw.random() < self.crossover else here)
        return tuple(rival)
