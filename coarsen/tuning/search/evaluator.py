"""Interface of a search to measurements: the only way to a time, and one count of what was tried.

    searcher ── choice ──▶ Evaluator ── Trial ──▶ searcher

An evaluator may measure on a device or look up stored rows; a searcher can't tell which. It counts distinct
choices, failed ones too, so that searchers are compared by the same number.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.tuning.search.spaces import ENUMERABLE, Choice, SearchSpace, count_valid, is_choice


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of trying a choice.

    Attributes:
        choice: what was tried.
        time: of a run, above 0, in any unit that an evaluator's trials share; None if it failed or was killed.
        seconds: wall-clock time spent on it, for compiling and running.
        reason: why there is no time, in one sentence where that is known.
        killed_after: the time at which the watch-dog ended it, in the unit of `time`: the real time is larger, so
            this is a bound, never a time.

    Raises:
        ValueError: a time that is none.
    """

    choice: Choice
    time: float | None
    seconds: float = 0.0
    reason: str = ""
    killed_after: float | None = None

    def __post_init__(self) -> None:
        if self.time is not None and not 0 < self.time < math.inf:
            raise ValueError(f"a time is above 0 and finite, not {self.time}; one that failed has None")


class Evaluator(abc.ABC):
    """Tries choices of one space (one kernel on one device, at one size), counts and remembers them.

    Args:
        space: the choices that may be tried.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._trials: dict[Choice, Trial] = {}

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

    def evaluate(self, choice: Choice) -> Trial:
        """Try a choice; one that was tried before gives the same trial again and counts once.

        Raises:
            InvalidInputError: the choice is not a valid one of the space.
            DeviceError: nothing can be measured any more.
        """
        return self._remembered(choice, None)

    def evaluate_within(self, choice: Choice, most_time: float) -> Trial:
        """Try a choice as `evaluate` does, but end it once it has run for longer than `most_time`.

        A choice that was tried before gives its trial again, killed or not.
        """
        return self._remembered(choice, most_time)

    def prepare(self, choices: Sequence[Choice]) -> None:  # noqa: B027 (hardly any has something to prepare)
        """Begin to make ready what is tried next; it changes no trial and counts for nothing.

        Args:
            choices: valid ones; one that is never tried afterwards does no harm.
        """

    @abc.abstractmethod
    def _measure(self, choice: Choice) -> Trial:
        """Measure a valid choice that was not tried before."""

    def _measure_within(self, choice: Choice, most_time: float) -> Trial:
        """Measure a valid choice, ended after `most_time`; here it runs to its end and is reported as killed."""
        return killed_if_slower(self._measure(choice), most_time)

    def _remembered(self, choice: Choice, most_time: float | None) -> Trial:
        if choice not in self._trials:
            if not is_choice(self._space, choice) or not self._space.is_valid(choice):
                raise InvalidInputError(f"{choice} is no valid choice of the space: ask is_valid first")
            measured = self._measure(choice) if most_time is None else self._measure_within(choice, most_time)
            self._trials[choice] = measured
        return self._trials[choice]


def killed_if_slower(trial: Trial, most_time: float) -> Trial:
    """Return a trial as a watch-dog with a limit would have left it."""
    if trial.time is None or trial.time <= most_time:
        return trial
    return replace(trial, time=None, reason="ended by the watch-dog", killed_after=most_time)


class FunctionEvaluator(Evaluator):
    """An evaluator of a function of the choice.

    Args:
        space: the choices that may be tried.
        time_of: returns the time of a valid choice; None if it fails.
    """

    def __init__(self, space: SearchSpace, time_of: Callable[[Choice], float | None]) -> None:
        super().__init__(space)
        self._time_of = time_of

    def _measure(self, choice: Choice) -> Trial:
        return Trial(choice, self._time_of(choice))


# How much a search may try, and an evaluator that keeps to it.


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

    def __init__(self, evaluator: Evaluator | BudgetedEvaluator, budget: Budget) -> None:
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
        """Begin to make ready what is tried next, as far as the budget goes."""
        if self._is_out_of_time:
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
        """Try a choice, ended once it has run for longer than `most_time`.

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
            evaluator = self._evaluator
            trial = (
                evaluator.evaluate(choice) if most_time is None else evaluator.evaluate_within(choice, most_time)
            )
            self._trials[choice] = trial
            self._seconds += trial.seconds
        return self._trials[choice]


# Large enough for all processors to compile, small enough to see results soon.
_ROUND = 16


def in_rounds(evaluator: BudgetedEvaluator, choices: Iterable[Choice], size: int = _ROUND) -> Iterator[Choice]:
    """Enumerate choices in their order, after the evaluator was told of each round to come.

    Args:
        evaluator: is told; what is tried is left to the caller.
        choices: are taken a round at a time.
        size: of a round.
    """
    remaining = iter(choices)
    while taken := list(itertools.islice(remaining, size)):
        evaluator.prepare(taken)
        yield from taken


# The watch-dog of Weber et al. (2015, sections 3.2 and 5.2): the rules by which slow runs are ended.
#
#     naive    one limit for all: the fastest so far (exhaustive, random and greedy search)
#     groups   one limit for the supports of one base along one axis: the fastest of them, the base among them
#
# A base is never killed, because every prediction needs its time. It is the first of each of its groups, which
# thus keep at least one value. A killed value has only a bound, and leaves the ranking: the minimum of its group
# is known, which is all that the search for a minimum needs.
#
# This is not the limit that `coarsen bench` sets on every run, ten times the best.


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
