"""The search of one launch's variants in little time.

    starting points ─▶ model of log times ─▶ of the fastest ones' neighbours, those that it expects most of ──┐
                             ▲────────────────────── fitted again on everything measured ─────────────────────┘

As guided search (`search/guided.py`), with a start and a model that know what the axes of such a space mean, and
with an end in seconds. What is measured next is compiled together, on all cores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.candidates import Candidates
from coarsen.opencl_bench.search.evaluator import Evaluator, Trial
from coarsen.opencl_bench.search.exhaustive import SPENT
from coarsen.opencl_bench.search.found import fastest, time_of
from coarsen.opencl_bench.search.spaces import Choice, neighbours

# So many are compiled and measured before the model is fitted again: twice the cores of a small machine.
ROUND_SIZE = 4
# Rounds without gain that end a search.
PATIENCE = 6
# A gain that counts as one: less is what a clock finds in the same code.
_LEAST_GAIN = 0.99
_DEVIATIONS = 0.7
# The model ranks the neighbours of so many, and of so many others: a whole space would take it seconds.
_FASTEST = 5
_OTHERS = 3
TIME_OVER = "the time was over"
NOTHING_LEFT = "nothing was left to try"

# Makes choices ready to be measured.
Prepare = Callable[[Sequence[Choice]], None]


class Model(Protocol):
    """Learns what was measured."""

    def lower_bounds(
        self, trials: Sequence[Trial], choices: Sequence[Choice], deviations: float
    ) -> NDArray[np.float64]:
        """Return, of the log times of choices, what they hardly are below, given what was tried."""
        ...


@dataclass(frozen=True, slots=True)
class LaunchSearch:
    """The search of one launch.

    Attributes:
        evaluator: the only way to a time.
        model: learns what was measured.
        prepare: compiles choices that will be tried next.
        is_over: tells that no time is left.
        seed: of the draws.
        most_trials: the most that may be tried; None for no limit but the time.
    """

    evaluator: Evaluator
    model: Model
    prepare: Prepare
    is_over: Callable[[], bool]
    seed: int = 0
    most_trials: int | None = None

    def run(self, starts: Iterable[Choice]) -> str:
        """Search from some choices; return why it ended, in a few words.

        Raises:
            DeviceError: nothing can be measured any more.
        """
        budgeted = BudgetedEvaluator(self.evaluator, Budget(trials=self.most_trials))
        try:
            return self._try(budgeted, list(starts)) or self._rounds(budgeted)
        except BudgetSpentError:
            return SPENT

    def _rounds(self, evaluator: BudgetedEvaluator) -> str:
        draw = random.Random(self.seed)
        vain = 0
        while vain < PATIENCE:
            before = _best(evaluator)
            proposed = self._proposed(evaluator, _fresh(evaluator, draw), draw)
            if not proposed:
                return NOTHING_LEFT
            if ending := self._try(evaluator, proposed):
                return ending
            vain = vain + 1 if _best(evaluator) > before * _LEAST_GAIN else 0
        return f"{PATIENCE} rounds brought no gain"

    def _proposed(
        self, evaluator: BudgetedEvaluator, fresh: Sequence[Choice], draw: random.Random
    ) -> list[Choice]:
        if not fresh or fastest(evaluator.trace) is None:
            return list(fresh[:ROUND_SIZE])
        bounds = self.model.lower_bounds(evaluator.trace, fresh, _DEVIATIONS)
        return [fresh[number] for number in np.argsort(bounds, kind="stable")[:ROUND_SIZE]]

    def _try(self, evaluator: BudgetedEvaluator, choices: Sequence[Choice]) -> str:
        """Try choices, some at a time; return why the search is over, empty where it is not."""
        for first in range(0, len(choices), ROUND_SIZE):
            batch = choices[first : first + ROUND_SIZE]
            if self.is_over():
                return TIME_OVER
            self.prepare(batch)
            for choice in batch:
                if self.is_over():
                    return TIME_OVER
                evaluator.evaluate(choice)
        return ""


def _best(evaluator: BudgetedEvaluator) -> float:
    best = fastest(evaluator.trace)
    return best.time if best is not None and best.time is not None else float("inf")


def _fresh(evaluator: BudgetedEvaluator, draw: random.Random) -> list[Choice]:
    """Return choices that were not tried, near the fastest and near some others, in random order.

    Where nothing ran yet, and where all of these were tried, any choices.
    """
    ran = sorted((trial for trial in evaluator.trace if trial.time is not None), key=time_of)
    others = ran[_FASTEST:]
    around = (*ran[:_FASTEST], *draw.sample(others, min(_OTHERS, len(others))))
    near = dict.fromkeys(choice for trial in around for choice in neighbours(evaluator.space, trial.choice))
    found = [choice for choice in near if not evaluator.has_tried(choice)]
    if not found:
        return Candidates(evaluator).fresh(draw)
    draw.shuffle(found)
    return found
