"""Verdict whether the contributions of options add up, on points that a prediction was not made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coarsen.tuning.search.spaces import Choice, SearchSpace

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


def cross_validated(space: SearchSpace, times: Mapping[Choice, float]) -> Additivity | None:
    """Judge by predicting each fifth of what was tried from the others: a sum of one logarithm for each value.

    Args:
        space: has the axes.
        times: of what ran in any search. That tries fast choices more than others, so that the verdict is about
            these.

    Returns:
        None where there are fewer times than the axes have values.
    """
    if len(times) <= max(_FOLDS, sum(len(axis.values) for axis in space.axes)):
        return None
    columns, measured = _indicators(space, [*times]), [*times.values()]
    logarithms, predicted = np.log(measured), np.empty(len(measured))
    for fold in range(_FOLDS):
        held_out = np.arange(len(measured)) % _FOLDS == fold
        predicted[held_out] = columns[held_out] @ _contributions(columns[~held_out], logarithms[~held_out])
    return judged(np.exp(predicted).tolist(), measured, is_log=True)


def _indicators(space: SearchSpace, choices: Sequence[Choice]) -> NDArray[np.float64]:
    """A column of ones, and one for each value of each axis: 1 where a choice has it."""
    indices = np.array(choices)
    values = [np.eye(len(axis.values))[indices[:, place]] for place, axis in enumerate(space.axes)]
    return np.hstack([np.ones((len(choices), 1)), *values])


def _contributions(columns: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The contribution of each column, by least squares."""
    normal = columns.T @ columns + _SHRINKAGE * np.eye(columns.shape[1])
    return np.asarray(np.linalg.solve(normal, columns.T @ times), dtype=np.float64)
