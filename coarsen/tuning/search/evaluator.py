"""Interface of a search to measurements: the only way to a time, and one count of what was tried.

    searcher ── choice ──▶ Evaluator ── Trial ──▶ searcher

An evaluator may measure on a device or look up stored rows; a searcher can't tell which. It counts distinct
choices, failed ones too, so that searchers are compared by the same number.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.tuning.search.spaces import ENUMERABLE, Choice, SearchSpace, count_valid, is_choice


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of trying a choice.

    Attributes:
        choice: what was tried.
        time: of a run, above 0, in any unit that an evaluator's trials share; None if it failed.
        seconds: wall-clock time spent on it, for compiling and running.
        reason: why there is no time, in one sentence where that is known.

    Raises:
        ValueError: a time that is none.
    """

    choice: Choice
    time: float | None
    seconds: float = 0.0
    reason: str = ""

    def __post_init__(self) -> None:
        if self.time is not None and not 0 < self.time < math.inf:
            raise ValueError(f"a time is above 0 and finite, not {self.time}; one that failed has None")


SPENT = "the budget was spent"
TIME_OVER = "the time was over"
# Large enough for all processors to compile, small enough to see results soon.
_ROUND = 16


class BudgetSpentError(CoarsenError):
    """A search asked for one trial more than its budget allows; it ends there, and the message says why."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a search may try; what is None sets no limit, and the first limit reached ends the search.

    Everything that the evaluator tried counts, also before the search began: it knows of that too.

    Attributes:
        trials: distinct choices, failed ones too.
        share: of the space's valid choices, from above 0 to 1; rounded down, but one trial at least.
        seconds: wall-clock time of the trials; the last one may exceed it.
        is_over: tells that no time is left for anything.

    Raises:
        InvalidInputError: a limit that is out of range.
    """

    trials: int | None = None
    share: float | None = None
    seconds: float | None = None
    is_over: Callable[[], bool] = field(default=lambda: False, compare=False)

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


class Evaluator(abc.ABC):
    """Tries choices of one space (one kernel on one device, at one size), counts and remembers them.

    It refuses new trials once a budget is spent; what was tried before stays free.

    Args:
        space: the choices that may be tried.

    Attributes:
        budget: what may be tried; everything as long as none was given.
        notes: what a user should know of how the search goes, a sentence each.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._trials: dict[Choice, Trial] = {}
        self.keep_to(Budget())

    def keep_to(self, budget: Budget) -> Self:
        """Begin a search that keeps to a budget; return this evaluator.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted.
        """
        self.budget = budget
        self._most_trials = budget.most_trials(self._space)
        self.notes: list[str] = []
        return self

    @property
    def space(self) -> SearchSpace:
        """The choices that may be tried."""
        return self._space

    @property
    def tried(self) -> int:
        """The number of distinct choices tried so far, failed ones too."""
        return len(self._trials)

    @property
    def trace(self) -> tuple[Trial, ...]:
        """The trials in their order, each distinct choice once."""
        return tuple(self._trials.values())

    @property
    def times(self) -> dict[Choice, float]:
        """The times of what ran."""
        return {trial.choice: trial.time for trial in self.trace if trial.time is not None}

    @property
    def left(self) -> int | None:
        """The number of trials that the budget still allows; None without a limit."""
        return None if self._most_trials is None else max(0, self._most_trials - self.tried)

    def has_tried(self, choice: Choice) -> bool:
        """Return True if a choice was tried before and is free."""
        return choice in self._trials

    def prepare(self, choices: Iterable[Choice]) -> None:
        """Begin to make ready what is tried next, as far as the budget goes; it counts for nothing.

        Args:
            choices: valid ones; one that is never tried afterwards does no harm.
        """
        fresh = [choice for choice in dict.fromkeys(choices) if not self.has_tried(choice)]
        if not self._ending and (allowed := fresh[: self.left]):
            self._prepare(allowed)

    def evaluate(self, choice: Choice) -> Trial:
        """Try a choice; one that was tried before gives the same trial again and counts once.

        Raises:
            BudgetSpentError: it is a new one, and the budget is spent.
            InvalidInputError: the choice is not a valid one of the space.
            DeviceError: nothing can be measured any more.
        """
        if choice not in self._trials:
            if ending := self._ending:
                raise BudgetSpentError(ending)
            if not is_choice(self._space, choice) or not self._space.is_valid(choice):
                raise InvalidInputError(f"{choice} is no valid choice of the space: ask is_valid first")
            self._trials[choice] = self._measure(choice)
        return self._trials[choice]

    def try_all(self, choices: Iterable[Choice], size: int = _ROUND) -> list[Trial]:
        """Try choices in their order, and prepare each round of them before its first one is tried.

        Args:
            choices: are taken a round at a time.
            size: of a round.

        Raises:
            BudgetSpentError: there is a new one, and the budget is spent.
        """
        trials, remaining = list[Trial](), iter(choices)
        while taken := list(itertools.islice(remaining, size)):
            self.prepare(taken)
            trials += map(self.evaluate, taken)
        return trials

    @property
    def _ending(self) -> str:
        """Why nothing new may be tried, in a few words; empty where it may be."""
        if self.budget.is_over():
            return TIME_OVER
        seconds = self.budget.seconds
        is_late = seconds is not None and sum(trial.seconds for trial in self.trace) >= seconds
        return SPENT if is_late or self.left == 0 else ""

    def _prepare(self, choices: Sequence[Choice]) -> None:  # noqa: B027 (hardly any has something to prepare)
        """Begin to make ready valid choices that were not tried before."""

    @abc.abstractmethod
    def _measure(self, choice: Choice) -> Trial:
        """Measure a valid choice that was not tried before."""
