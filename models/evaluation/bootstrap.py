"""Percentile bootstrap intervals of means over kernels (Efron, "Bootstrap Methods", Annals of Statistics 1979).

Families are drawn with replacement, each with all its kernels, since two versions of one algorithm aren't two
independent observations. With some sixteen families such intervals are too narrow: simulated, 92 % of those called
95 % hold the true mean where values are normal, 88 % where they are as skewed as an exponential distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`."""

    low: float
    high: float

    def exponential(self) -> Interval:
        """Of the exponential of what this is an interval of."""
        return Interval(float(np.exp(self.low)), float(np.exp(self.high)))


def mean_interval(
    values: Sequence[float],
    families: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """The interval of the mean over kernels.

    Of two methods' differences it is a paired interval: each resample has the same kernels of both.

    Args:
        values: one per kernel, shape (n,).
        families: those of the kernels, as many.
        seed: of the resampling.
        resamples: how often the families are drawn.
        level: the interval's probability.
    """
    numbers = np.asarray(values, dtype=np.float64)
    _, index = np.unique(np.asarray(families), return_inverse=True)
    sums, counts = np.bincount(index, numbers), np.bincount(index)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
