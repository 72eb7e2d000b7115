"""What is known of a device from best factors alone: two numbers that adjust the curve of all devices.

    curve' = s · curve + b · log2 f

s and b are those of a fixed grid under which the best factors of the training kernels are likeliest, where the
curve's error keeps its distribution. The probability that a factor is the best of all is counted over fixed draws
from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.models.default.inputs import Array
from coarsen.models.default.joint import CurveDistribution

SCALES = tuple(np.arange(0.0, 2.0 + 1e-9, 0.125).tolist())
SLOPES = tuple(np.arange(-0.4, 0.4 + 1e-9, 0.04).round(9).tolist())
DRAWS = 512


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A device's two numbers: the curve is multiplied by `scale`, and `slope` is added for each doubling."""

    scale: float = 1.0
    slope: float = 0.0


def fit_adjustment(curves: Sequence[CurveDistribution], best: Sequence[int]) -> Adjustment:
    """Return the adjustment that makes the best factors likeliest; of several, the one that changes least.

    Args:
        curves: the distributions of the training kernels' curves, from trees that had not seen them.
        best: the best factor of each.
    """
    draws = _draws(len(curves[0].factors))
    grid = [(scale, slope) for scale in SCALES for slope in SLOPES]
    scales, slopes = (np.array(column)[:, np.newaxis, np.newaxis] for column in zip(*grid, strict=True))
    likelihood = np.zeros(len(grid))
    for curve, factor in zip(curves, best, strict=True):
        likelihood += np.log(_probabilities(curve, factor, scales, slopes, draws))
    least_change = [abs(scale - 1.0) + abs(slope) for scale, slope in grid]
    chosen = max(range(len(grid)), key=lambda index: (likelihood[index], -least_change[index]))
    return Adjustment(*grid[chosen])


def _probabilities(
    curve: CurveDistribution, factor: int, scales: NDArray[np.float64], slopes: Array, draws: Array
) -> Array:
    """The probability that a factor is the best one, for each scale and slope of the grid.

    Adds one draw for each possible answer (Laplace's rule of succession), so that none is impossible.
    """
    errors = draws @ np.linalg.cholesky(curve.covariance).T
    with_first = np.hstack([np.zeros((len(draws), 1)), errors])
    mean = np.append(0.0, curve.mean)
    doublings = np.append(0.0, np.log2(curve.factors))
    sampled = scales * mean + slopes * doublings + with_first
    wins = (sampled.argmax(axis=2) == (1, *curve.factors).index(factor)).sum(axis=1)
    return np.asarray((wins + 1.0) / (len(draws) + mean.size))


def _draws(factors: int) -> Array:
    """Standard normal draws, the same each time, each with its mirror image."""
    half = np.random.Generator(np.random.PCG64(0)).standard_normal((DRAWS // 2, factors))
    return np.concatenate([half, -half])
