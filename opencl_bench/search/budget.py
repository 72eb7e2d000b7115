"""How much a search may try, and an evaluator that keeps to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.opencl_bench.search.evaluator import Evaluator, KillingEvaluator, PreparingEvaluator, Trial
from coarsen.opencl_bench.search.spaces import ENUMERABLE, Choice, SearchSpace, count_valid


class BudgetSpentError(CoarsenError):
    """A search asked for one trial more than its budget allows; searchers end there."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a search may try; what is None sets no limit, and the first limit reached ends the search.

    Everything that the evaluator tried counts, also before the search began: it knows of that too.

    Attributes:
        trials: distinct choices, failed ones too.
        share: of the space's valid choices, from above 0 to 1; rounded down, but one trial at least.
        seconds: wall-clock time of the trials; the last one may exceed it.

    Raises:
        InvalidInputError: a limit that is out of range.
    """

    trials: int | None = None
    share: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise InvalidInputError(f"a budget has at least one trial, not {self.trials}")
        if self.share is not None and not 0 < self.share <= 1:
            raise InvalidInputError(f"a budget is a share above 0 and at most 1 of the space, not {self.share}")
        if self.seconds is not None and not self.seconds > 0:
            raise InvalidInputError(f"a budget has more than 0 seconds, not {self.seconds}")

    @property
    def is_limited(self) -> bool:
        """Return True if there is any limit."""
        return any(limit is not None for limit in (self.trials, self.share, self.seconds))

    def most_trials(self, space: SearchSpace) -> int | None:
        """Return how many distinct choices of a space may be tried; None without a limit.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted.
        """
        limits = [self.trials] if self.trials is not None else []
        if self.share is not None:
            limits.append(_share_of(space, self.share))
        return min(limits, default=None)


def _share_of(space: SearchSpace, share: float) -> int:
    valid = count_valid(space)
    if valid is None:
        raise InvalidInputError(
            f"a space of more than {ENUMERABLE} choices is not counted: give the budget as a number of trials"
        )
    # The tenth of a millionth keeps 0.07 × 100 at 7.
    return max(1, math.floor(share * valid + 1e-7))


class BudgetedEvaluator:
    """An evaluator that refuses new trials once a budget is spent; what was tried before stays free.

    Args:
        evaluator: tries the choices, and counts them.
        budget: what may be tried.

    Raises:
        InvalidInputError: the budget is a share of a space that is too large to be counted.
    """

    def __init__(self, evaluator: Evaluator, budget: Budget) -> None:
        self._evaluator = evaluator
        self._most_trials = budget.most_trials(evaluator.space)
        self._most_seconds = budget.seconds
        self._trials = {trial.choice: trial for trial in evaluator.trace}
        self._seconds = sum(trial.seconds for trial in evaluator.trace)

    @property
    def space(self) -> SearchSpace:
        """The choices that may be tried."""
        return self._evaluator.space

    @property
    def tried(self) -> int:
        """The number of distinct choices tried so far, failed ones too."""
        return self._evaluator.tried

    @property
    def trace(self) -> tuple[Trial, ...]:
        """The trials in their order, each distinct choice once."""
        return self._evaluator.trace

    @property
    def left(self) -> int | None:
        """The number of trials that the budget still allows; None without a limit."""
        return None if self._most_trials is None else max(0, self._most_trials - self.tried)

    def has_tried(self, choice: Choice) -> bool:
        """Return True if a choice was tried before and is free."""
        return choice in self._trials

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Begin to make ready what is tried next, as far as the budget goes, where the evaluator can do that."""
        if self._is_out_of_time or not isinstance(self._evaluator, PreparingEvaluator):
            return
        fresh = [choice for choice in dict.fromkeys(choices) if not self.has_tried(choice)]
        if allowed := fresh[: self.left]:
            self._evaluator.prepare(allowed)

    def evaluate(self, choice: Choice) -> Trial:
        """Try a choice.

        Raises:
            BudgetSpentError: it is a new one, and the budget is spent.
            InvalidInputError: the choice is not a valid one of the space.
        """
        return self._charged(choice, None)

    def evaluate_within(self, choice: Choice, most_time: float) -> Trial:
        """Try a choice, ended once it has run for longer than `most_time` where the evaluator can do that.

        Raises:
            BudgetSpentError: it is a new one, and the budget is spent.
            InvalidInputError: the choice is not a valid one of the space.
        """
        return self._charged(choice, most_time)

    @property
    def _is_out_of_time(self) -> bool:
        return self._most_seconds is not None and self._seconds >= self._most_seconds

    def _charged(self, choice: Choice, most_time: float | None) -> Trial:
        if choice not in self._trials:
            if self.left == 0 or self._is_out_of_time:
                raise BudgetSpentError("the budget is spent")
            trial = self._tried(choice, most_time)
            self._trials[choice] = trial
            self._seconds += trial.seconds
        return self._trials[choice]

    def _tried(self, choice: Choice, most_time: float | None) -> Trial:
        if most_time is not None and isinstance(self._evaluator, KillingEvaluator):
            return self._evaluator.evaluate_within(choice, most_time)
        return self._evaluator.evaluate(choice)
