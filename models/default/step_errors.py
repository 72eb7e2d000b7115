"""The probability that a step helps, calibrated on out-of-bag curves.

A step from f to 2f adds d, of which the joint distribution knows the mean m and the deviation s (`joint.py`).

    P(d > 0) = 1 − F(−κ m / s)

F is the distribution of (d − m) / s over the steps of the training kernels, predicted by trees that had not seen
them. κ is the number of a fixed grid that makes the answers of these steps likeliest: above 1 where the forest
predicts too little of what is large, below 1 where it is surer of a step's direction than it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.default.inputs import Array
from coarsen.models.default.joint import CurveDistribution
from coarsen.models.trees.quantiles import weighted_quantiles

LEVELS = 200
_SHARPNESS = np.geomspace(0.25, 4.0, 81)


@dataclass(frozen=True)
class StepErrors:
    """The distribution of a step's standardised error.

    Args:
        quantiles: F's, at the levels (k + ½) / K, shape (K,).
        sharpness: κ.
    """

    quantiles: Array
    sharpness: float

    def probability(self, curve: CurveDistribution, factor: int) -> float:
        """Return the probability that twice a factor is faster than the factor."""
        mean, deviation = curve.step(factor)
        if deviation == 0.0:
            return 1.0 if mean > 0.0 else 0.0
        return float(_above_zero(np.array(mean / deviation), self.quantiles, self.sharpness))


def fit_step_errors(curves: Sequence[CurveDistribution], observed: Array, weights: Array) -> StepErrors:
    """Fit the distribution of a step's error.

    Args:
        curves: what trees that had not seen the kernel say of n curves, over all F factors.
        observed: the curves' log speed-ups, (n, F), NaN where not measured.
        weights: each curve's weight, (n,).

    Raises:
        InvalidInputError: no curve has both ends of a step.
    """
    steps = np.array([[curve.step(factor) for factor in curve.steps()] for curve in curves])
    added = np.diff(observed, axis=1, prepend=0.0)
    known = np.isfinite(added) & np.isfinite(steps).all(axis=2) & (steps[:, :, 1] > 0.0)
    if not known.any():
        raise InvalidInputError("no curve to learn from has two neighbouring factors, such as 1 and 2, or 4 and 8")
    mean, deviation = steps[known].T
    weight = np.broadcast_to(weights[:, np.newaxis], added.shape)[known]
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = weighted_quantiles((added[known] - mean) / deviation, weight, levels)
    return StepErrors(quantiles, _sharpness(mean / deviation, added[known], weight, quantiles))


def _sharpness(ratio: Array, added: Array, weight: Array, quantiles: Array) -> float:
    decided = np.where(added == 0.0, 0.0, weight)
    losses = []
    for sharpness in _SHARPNESS:
        helps = _above_zero(ratio, quantiles, sharpness)
        losses.append(-(decided * np.log(np.where(added > 0.0, helps, 1.0 - helps))).sum())
    return float(_SHARPNESS[int(np.argmin(losses))])


def _above_zero(ratio: Array, quantiles: Array, sharpness: float) -> Array:
    levels = (np.arange(quantiles.size) + 0.5) / quantiles.size
    return np.asarray(1.0 - np.interp(-sharpness * ratio, quantiles, levels))
