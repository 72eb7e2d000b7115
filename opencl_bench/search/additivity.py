"""Whether the contributions of options add up, judged on points that a prediction was not made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# At least this share of the variance must be predicted, or the typical error be at most this share of the time.
LEAST_R_SQUARED = 0.75
MOST_ERROR = 0.05
NOT_ADDITIVE = "these options are not additive"


@dataclass(frozen=True, slots=True)
class Additivity:
    """How well predictions held on points that were measured after they were made.

    Attributes:
        points: how many were predicted and then measured.
        r_squared: the share of the variance of the measured times that was predicted, at most 1 and below 0 where
            their mean predicts better; None for fewer than three points, or equal ones.
        median_error: the median of |predicted − measured| / measured.
    """

    points: int
    r_squared: float | None
    median_error: float

    @property
    def is_additive(self) -> bool:
        """Return True unless the predictions are too far off."""
        return self.median_error <= MOST_ERROR or (
            self.r_squared is not None and self.r_squared >= LEAST_R_SQUARED
        )

    def __str__(self) -> str:
        r_squared = "" if self.r_squared is None else f"R² {self.r_squared:.2f}, "
        verdict = "these options are additive" if self.is_additive else NOT_ADDITIVE
        return f"{verdict}: {r_squared}median error {self.median_error:.0%} on {self.points} held-out points"


def judged(predicted: Sequence[float], measured: Sequence[float]) -> Additivity | None:
    """Compare predictions with measurements of the same points; None where there are none.

    Args:
        predicted: times, in the unit of `measured`; linear predictions may be below 0.
        measured: times above 0.
    """
    if not measured:
        return None
    times = np.asarray(measured)
    errors = np.asarray(predicted) - times
    spread = float(((times - times.mean()) ** 2).sum())
    is_telling = len(times) > 2 and spread > 0
    r_squared = 1 - float((errors**2).sum()) / spread if is_telling else None
    return Additivity(len(times), r_squared, float(np.median(np.abs(errors) / times)))
