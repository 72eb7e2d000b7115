"""The joint distribution of a kernel's log speed-ups over the factors, and what to do given it.

Notation: y_f is the natural logarithm of the speed-up at factor f over factor 1, so y_1 = 0; y ~ N(m, S) over the
other factors; φ and Φ are the standard normal's density and distribution.

    E max(0, −y_f) = s φ(m/s) − m Φ(−m/s),     s² = S_ff
    utility of f   = E y_f − 3 · E max(0, −y_f),     0 at factor 1
    step f → 2f    : y_2f − y_f ~ N(m_2f − m_f, S_ff + S_2f,2f − 2 S_f,2f)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coarsen.models.default.inputs import Array

# A loss counts 1 + AVERSION times as much as a gain of the same size.
AVERSION = 3.0


@dataclass(frozen=True)
class CurveDistribution:
    """A Gaussian over a curve: `factors` in rising order without 1, `mean` (F,), `covariance` (F, F)."""

    factors: tuple[int, ...]
    mean: Array
    covariance: Array

    @property
    def deviation(self) -> Array:
        """The standard deviation at each factor, (F,)."""
        return np.sqrt(np.diagonal(self.covariance))

    def utilities(self, aversion: float = AVERSION) -> Array:
        """Return what each factor is worth, (F,): its mean less `aversion` times its expected loss."""
        losses = map(expected_loss, self.mean.tolist(), self.deviation.tolist())
        return self.mean - aversion * np.array(list(losses))

    def best(self, aversion: float = AVERSION) -> int:
        """Return the factor that is worth most; 1, which is worth 0, unless another is worth more."""
        worth = {1: 0.0, **dict(zip(self.factors, self.utilities(aversion).tolist(), strict=True))}
        return max(worth, key=lambda factor: (worth[factor], -factor))

    def step(self, factor: int) -> tuple[float, float]:
        """Mean and standard deviation of what a step from a factor to its double adds.

        Raises:
            ValueError: the distribution lacks one of the two.
        """
        after = self.factors.index(2 * factor)
        if factor == 1:
            return float(self.mean[after]), float(self.deviation[after])
        before = self.factors.index(factor)
        both = self.covariance[np.ix_([before, after], [before, after])]
        variance = both[0, 0] + both[1, 1] - 2.0 * both[0, 1]
        return float(self.mean[after] - self.mean[before]), math.sqrt(max(0.0, float(variance)))

    def steps(self) -> tuple[int, ...]:
        """Return the factors from which a step to the double is covered."""
        return tuple(factor // 2 for factor in self.factors if factor == 2 or factor // 2 in self.factors)

    def adjusted(self, scale: float, slope: float) -> CurveDistribution:
        """Return the mean curve times `scale`, plus `slope` for each doubling; the uncertainty stays."""
        mean = scale * self.mean + slope * np.log2(self.factors)
        return CurveDistribution(self.factors, mean, self.covariance)

    def limited_to(self, factors: tuple[int, ...]) -> CurveDistribution:
        """Return the same over some of the factors."""
        kept = [index for index, factor in enumerate(self.factors) if factor in factors]
        chosen = tuple(self.factors[index] for index in kept)
        return CurveDistribution(chosen, self.mean[kept], self.covariance[np.ix_(kept, kept)])


def expected_loss(mean: float, deviation: float) -> float:
    """E max(0, −y) of y ~ N(mean, deviation²)."""
    if deviation <= 0.0:
        return max(0.0, -mean)
    ratio = mean / deviation
    density = math.exp(-0.5 * ratio * ratio) / math.sqrt(2.0 * math.pi)
    return deviation * density - mean * 0.5 * math.erfc(ratio / math.sqrt(2.0))
