"""Interface of a searcher, and what a search finds: the best, all trials, whether the options add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coarsen.tuning.search.evaluator import Budget, Evaluator, Trial
from coarsen.tuning.search.spaces import Choice, SearchSpace


class Searcher(Protocol):
    """A way to search any space through an evaluator."""

    @property
    def name(self) -> str:
        """The name by which a user asks for it."""
        ...

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search the evaluator's space for its fastest choice.

        Args:
            evaluator: the only way to a time.
            budget: the most that may be tried.
            seed: the same seed tries the same choices in the same order, where the times are the same.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted, or a package is
                missing.
            DeviceError: nothing can be measured any more.
        """
        ...


# The result of a search.


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search.

    Attributes:
        best: the fastest of everything tried; None if nothing could run.
        trace: everything tried, in order; its length is the number of trials.
        ending: why the search ended, in a few words.
        notes: what a user should know of how it went, a sentence each.
        additivity: whether the contributions of the independent options add up; None where that was not judged.
    """

    best: Trial | None
    trace: tuple[Trial, ...]
    ending: str
    notes: tuple[str, ...] = ()
    additivity: Additivity | None = None

    def with_trials(self, trace: tuple[Trial, ...]) -> Found:
        """Return the same with everything that was tried, and the fastest of it."""
        return replace(self, best=fastest(trace), trace=trace)


def fastest(trials: Iterable[Trial]) -> Trial | None:
    """Return the first of the fastest trials; None if none has a time."""
    return min((trial for trial in trials if trial.time is not None), key=time_of, default=None)


def time_of(trial: Trial) -> float:
    """Return the time of a trial, infinity for one that failed or was killed: for comparisons alone."""
    return float("inf") if trial.time is None else trial.time


# Verdict whether the contributions of options add up, on points that a prediction was not made from.

# At least this share of the variance must be predicted, or the error be at most this share of the time.
LEAST_R_SQUARED = 0.75
MOST_ERROR = 0.05
_LEAST_POINTS = 3
_FOLDS = 5
# Of the squares of contributions, so that values that were never tried contribute nothing.
_SHRINKAGE = 1e-3
NOT_ADDITIVE = "these options are not additive"


@dataclass(frozen=True, slots=True)
class Additivity:
    """Errors of predictions on points that were measured after they were made.

    Attributes:
        points: how many were predicted and then measured.
        r_squared: the share of the variance of the measured times that was predicted, at most 1 and below 0 where
            their mean predicts better; None for fewer than three points, or equal ones.
        error: the root mean square of (predicted − measured) / measured.
    """

    points: int
    r_squared: float | None
    error: float

    @property
    def is_additive(self) -> bool:
        """Return True unless the predictions are too far off."""
        explains = self.r_squared is not None and self.r_squared >= LEAST_R_SQUARED
        return explains or self.error <= MOST_ERROR

    def __str__(self) -> str:
        r_squared = "" if self.r_squared is None else f"R² {self.r_squared:.2f}, "
        verdict = "these options are additive" if self.is_additive else NOT_ADDITIVE
        return f"{verdict}: {r_squared}error {self.error:.1%} on {self.points} held-out points"


def judged(predicted: Sequence[float], measured: Sequence[float], is_log: bool = False) -> Additivity | None:
    """Compare predictions with measurements of the same points; None where there are none.

    Args:
        predicted: times, in the unit of `measured`; linear predictions may be below 0.
        measured: times above 0.
        is_log: whether the prediction adds logarithms: their variance is then the one to be predicted.
    """
    if not measured:
        return None
    errors = np.subtract(predicted, measured) / np.asarray(measured)
    r_squared = _r_squared(np.log(predicted), np.log(measured)) if is_log else _r_squared(predicted, measured)
    return Additivity(len(measured), r_squared, float(np.sqrt(np.mean(errors**2))))


def _r_squared(predicted: ArrayLike, measured: ArrayLike) -> float | None:
    values = np.asarray(measured)
    spread = float(((values - values.mean()) ** 2).sum())
    if len(values) < _LEAST_POINTS or spread == 0:
        return None
    return 1 - float(((np.asarray(predicted) - values) ** 2).sum()) / spread


def cross_validated(space: SearchSpace, trials: Sequence[Trial]) -> Additivity | None:
    """Judge by predicting each fifth of what was tried from the others: a sum of one logarithm for each value.

    Args:
        space: has the axes.
        trials: of any search; those without a time are left out. A search tries fast choices more than others, so
            that the verdict is about these.

    Returns:
        None where fewer trials have a time than the axes have values.
    """
    ran = [(trial.choice, trial.time) for trial in trials if trial.time is not None]
    if len(ran) <= max(_FOLDS, sum(len(axis.values) for axis in space.axes)):
        return None
    columns = _indicators(space, [choice for choice, _ in ran])
    times = np.log([time for _, time in ran])
    predicted = np.empty(len(ran))
    for fold in range(_FOLDS):
        held_out = np.arange(len(ran)) % _FOLDS == fold
        predicted[held_out] = columns[held_out] @ _contributions(columns[~held_out], times[~held_out])
    return judged(np.exp(predicted).tolist(), [time for _, time in ran], is_log=True)


def _indicators(space: SearchSpace, choices: Sequence[Choice]) -> NDArray[np.float64]:
    """A column of ones, and one for each value of each axis: 1 where a choice has it."""
    indices = np.array(choices)
    values = [np.eye(len(axis.values))[indices[:, place]] for place, axis in enumerate(space.axes)]
    return np.hstack([np.ones((len(choices), 1)), *values])


def _contributions(columns: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The contribution of each column, by least squares."""
    normal = columns.T @ columns + _SHRINKAGE * np.eye(columns.shape[1])
    return np.asarray(np.linalg.solve(normal, columns.T @ times), dtype=np.float64)
