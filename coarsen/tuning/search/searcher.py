"""Interface of a searcher, the rounds of those that learn, and what a search finds."""

from __future__ import annotations

import abc
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from coarsen.tuning.search.evaluator import Budget, BudgetSpentError, Evaluator, Trial
from coarsen.tuning.search.spaces import Choice

COMPLETE = "every valid choice was tried"


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search.

    Attributes:
        best: the fastest of everything tried; None if nothing could run.
        trace: everything tried, in order; its length is the number of trials.
        ending: why the search ended, in a few words.
        notes: what a user should know of how it went, a sentence each.
    """

    best: Trial | None
    trace: tuple[Trial, ...]
    ending: str
    notes: tuple[str, ...] = ()

    def with_trials(self, trace: tuple[Trial, ...]) -> Found:
        """Return the same with everything that was tried, and the fastest of it."""
        return replace(self, best=fastest(trace), trace=trace)


class Searcher(abc.ABC):
    """A way to search any space through an evaluator."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name by which a user asks for it."""

    def search(self, evaluator: Evaluator, budget: Budget, seed: int, first: Iterable[Choice] = ()) -> Found:
        """Search the evaluator's space for its fastest choice.

        Args:
            evaluator: the only way to a time.
            budget: the most that may be tried.
            seed: the same seed tries the same choices in the same order, where the times are the same.
            first: what is tried before anything else, as far as it is valid.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted, or a package is
                missing.
            DeviceError: nothing can be measured any more.
        """
        evaluator.keep_to(budget)
        try:
            for choice in filter(evaluator.space.is_valid, first):
                evaluator.evaluate(choice)
            ending = self.run(evaluator, random.Random(seed))
        except BudgetSpentError as spent:
            ending = str(spent)
        found = Found(None, (), ending, tuple(evaluator.notes))
        return found.with_trials(evaluator.trace)

    @abc.abstractmethod
    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """Try choices; return why no more are tried, in a few words.

        Args:
            evaluator: tries choices, and is told what the user should know.
            draw: of whatever is random.

        Raises:
            BudgetSpentError: the budget is spent.
        """


def run_rounds(
    evaluator: Evaluator, propose: Callable[[], Sequence[Choice]], patience: float, least_gain: float = 1.0
) -> str:
    """Try what is proposed, round by round, until some rounds brought no gain; return why it ended.

    Args:
        evaluator: tries the choices.
        propose: returns those of a round; none where nothing is left.
        patience: how many rounds without gain end it.
        least_gain: what the best time has to be divided by for a gain that counts.
    """
    vain = 0
    while vain < patience:
        before = _best_time(evaluator)
        proposed = propose()
        if not proposed:
            return COMPLETE
        evaluator.try_all(proposed, len(proposed))
        vain = 0 if _best_time(evaluator) < before / least_gain else vain + 1
    return f"{vain} rounds brought no gain"


def _best_time(evaluator: Evaluator) -> float:
    return min(map(time_of, evaluator.trace), default=math.inf)


def fastest(trials: Iterable[Trial]) -> Trial | None:
    """Return the first of the fastest trials; None if none has a time."""
    return min((trial for trial in trials if trial.time is not None), key=time_of, default=None)


def time_of(trial: Trial) -> float:
    """Return the time of a trial, infinity for one that failed: for comparisons alone."""
    return float("inf") if trial.time is None else trial.time
