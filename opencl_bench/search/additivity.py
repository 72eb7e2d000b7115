"""Whether the contributions of options add up, judged on points that a prediction was not made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# At least this share of the variance must be predicted, or the error be at most this share of the time.
LEAST_R_SQUARED = 0.75
MOST_ERROR = 0.05
_LEAST_POINTS = 3
NOT_ADDITIVE = "these options are not additive"


@dataclass(frozen=True, slots=True)
class Additivity:
    """How well predictions held on points that were measured after they were made.

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
