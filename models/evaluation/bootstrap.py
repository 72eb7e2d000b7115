"""Percentile bootstrap intervals of means over kernels (Efron, "Bootstrap Methods", Annals of Statistics 1979).

Families are drawn with replacement, each with all its kernels, since two versions of one algorithm aren't two
independent observations. With some sixteen families such intervals are too narrow: simulated, 92 % of those called
95 % hold the true mean where values are normal, 88 % where they are as skewed as an exponential distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.trees.arrays import Array

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
    """Return the interval of the mean over kernels.

    Of two methods' differences it is a paired interval: each resample has the same kernels of both.

    Args:
        values: one per kernel, shape (n,).
        families: those of the kernels, as many.
        seed: of the resampling.
        resamples: how often the families are drawn.
        level: the interval's probability.
    """
    ones = np.ones(len(values))
    return ratio_interval(values, ones, families, seed, resamples, level)


def ratio_interval(
    numerators: Sequence[float] | Array,
    denominators: Sequence[float] | Array,
    families: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the sum of some values over the sum of others.

    Args:
        numerators: one per kernel, shape (n,).
        denominators: as many; resamples whose sum isn't above 0 tell nothing and are left out.
        families: see `mean_interval`, as the others.
        seed: of the resampling.
        resamples: how often the families are drawn.
        level: the interval's probability.
    """
    _, index = np.unique(np.asarray(families), return_inverse=True)
    above, below = (np.bincount(index, np.asarray(each, dtype=np.float64)) for each in (numerators, denominators))
    drawn = np.random.default_rng(seed).integers(len(above), size=(resamples, len(above)))
    tops, bottoms = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
    ratios = tops[bottoms > 0] / bottoms[bottoms > 0]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
