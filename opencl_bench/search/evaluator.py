"""Interface of a search to measurements: the only way to a time, and one count of what was tried.

    searcher ── choice ──▶ Evaluator ── Trial ──▶ searcher

An evaluator may measure on a device or look up stored rows; a searcher can't tell which. It counts distinct
choices, failed ones too, so that searchers are compared by the same number.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, is_choice


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


class Evaluator(Protocol):
    """Tries choices of one space: one kernel on one device, at one size."""

    @property
    def space(self) -> SearchSpace:
        """The choices that may be tried."""
        ...

    @property
    def tried(self) -> int:
        """The number of distinct choices tried so far, failed ones too."""
        ...

    @property
    def trace(self) -> tuple[Trial, ...]:
        """The trials in their order, each distinct choice once."""
        ...

    def evaluate(self, choice: Choice) -> Trial:
        """Try a choice; one that was tried before gives the same trial again and counts once.

        Raises:
            InvalidInputError: the choice is not a valid one of the space.
            DeviceError: nothing can be measured any more.
        """
        ...


@runtime_checkable
class KillingEvaluator(Evaluator, Protocol):
    """An evaluator that can end a run that takes too long."""

    def evaluate_within(self, choice: Choice, most_time: float) -> Trial:
        """Try a choice as `evaluate` does, but end it once it has run for longer than `most_time`.

        A choice that was tried before gives its trial again, killed or not.
        """
        ...


@runtime_checkable
class PreparingEvaluator(Evaluator, Protocol):
    """An evaluator that has something to do before a choice can be measured, for several of them at once."""

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Begin to make ready what is tried next; it changes no trial and counts for nothing.

        Args:
            choices: valid ones; one that is never tried afterwards does no harm.
        """
        ...


class RememberingEvaluator(abc.ABC):
    """The counting and remembering of an evaluator; what it adds is how one choice is measured.

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
        """
        return self._remembered(choice, None)

    def evaluate_within(self, choice: Choice, most_time: float) -> Trial:
        """Try a choice, but end it once it has run for longer than `most_time`."""
        return self._remembered(choice, most_time)

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


class FunctionEvaluator(RememberingEvaluator):
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
