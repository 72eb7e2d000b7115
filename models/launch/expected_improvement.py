"""Choose what to measure next by its expected improvement over the best that is known.

    prior: mean, deviation of each variant's log time ─┐
    measured log times ────────────────────────────────┴▶ posterior ─▶ E max(0, best − log time) ─▶ the largest

What a measurement says of a variant, it says of those like it, too: deviations from the prior are taken to be
normal, and correlated the more the nearer two variants are.

Source: Jones, Schonlau and Welch, Efficient Global Optimization of Expensive Black-Box Functions, J. Global
Optimization 13 (1998), equation 15.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from coarsen.variant.coarsening import DIMENSIONS, Level
from coarsen.variant.variant import Variant

# Launches that are measured where nobody says how many.
USUAL_TRIALS = 6

# So far apart, in doublings, two variants say little of each other.
_LENGTH = 2.0
# A stride of 32 is as far from one of 1 as factors two doublings apart.
_OF_STRIDES = 0.4
# The standard deviation of a measured logarithm: the same code differs by so much.
_NOISE = 0.02

_NORMAL = NormalDist()

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expected:
    """The expectation of a variant: its log time over that of the launch as it is, and the standard deviation."""

    mean: float
    deviation: float


class Belief:
    """The expectation of each of some variants, given what was measured of some of them.

    Args:
        prior: what is expected of each before anything is measured; the launch as it is is among them or not.
    """

    def __init__(self, prior: Mapping[Variant, Expected]) -> None:
        self.variants = tuple(prior)
        self._numbers = {variant: number for number, variant in enumerate(self.variants)}
        self._means = np.array([each.mean for each in prior.values()], np.float64)
        self._deviations = np.array([each.deviation for each in prior.values()], np.float64)
        self._places = np.array([_place(variant) for variant in self.variants], np.float64)

    def expected(self, measured: Mapping[Variant, float]) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the variants' log times, each (number of variants,).

        Args:
            measured: log times over that of the launch as it is; others than the variants' tell nothing.
        """
        numbers = [self._numbers[variant] for variant in measured if variant in self._numbers]
        if not numbers:
            return self._means, self._deviations
        times = np.array([measured[self.variants[number]] for number in numbers], np.float64)
        to_all = self._covariances(numbers)
        among = to_all[:, numbers] + _NOISE**2 * np.eye(len(numbers))
        weights = np.linalg.solve(among, to_all)
        means = self._means + weights.T @ (times - self._means[numbers])
        variances = self._deviations**2 - np.sum(weights * to_all, axis=0)
        return means, np.sqrt(np.maximum(variances, 0.0))

    def most_promising(self, measured: Mapping[Variant, float], tried: Set[Variant]) -> Variant | None:
        """Return the variant of the largest expected improvement; None where all were tried.

        Args:
            measured: log times over that of the launch as it is, whose own is 0.
            tried: what is not to be measured again, those that failed too.
        """
        left = [number for number, variant in enumerate(self.variants) if variant not in tried]
        if not left:
            return None
        means, deviations = self.expected(measured)
        best = min(0.0, *measured.values()) if measured else 0.0
        improvements = expected_improvements(means[left], deviations[left], best)
        # The first of equals, as they are listed.
        return self.variants[left[int(np.argmax(improvements))]]

    def expected_of(self, variant: Variant, measured: Mapping[Variant, float]) -> Expected:
        """Return what is expected of one of the variants, given what was measured."""
        means, deviations = self.expected(measured)
        number = self._numbers[variant]
        return Expected(float(means[number]), float(deviations[number]))

    def _covariances(self, numbers: Sequence[int]) -> Floats:
        """The covariances of some variants with all: (number of these, number of variants)."""
        apart = self._places[numbers][:, None, :] - self._places[None, :, :]
        correlations = np.exp(-np.sum(apart**2, axis=2) / (2 * _LENGTH**2))
        covariances: Floats = np.outer(self._deviations[numbers], self._deviations) * correlations
        return covariances


def expected_improvements(means: Floats, deviations: Floats, best: float) -> Floats:
    """Return E max(0, best − x) of normal x, (number of these,); where the deviation is 0, max(0, best − mean)."""
    entries = zip(means.tolist(), deviations.tolist(), strict=True)
    return np.array([_expected_improvement(best - mean, deviation) for mean, deviation in entries], np.float64)


def _expected_improvement(gain: float, deviation: float) -> float:
    if deviation <= 0:
        return max(gain, 0.0)
    normal = gain / deviation
    return gain * _NORMAL.cdf(normal) + deviation * _NORMAL.pdf(normal)


def _place(variant: Variant) -> list[float]:
    """Return where a variant lies: in doublings of each level's factors, of the strides, of the local size."""
    factors = [0.0] * (2 * DIMENSIONS)
    strides = [0.0] * DIMENSIONS
    for coarsening in variant.coarsenings:
        axis = coarsening.dimension + (DIMENSIONS if coarsening.level is Level.GROUP else 0)
        factors[axis] = math.log2(coarsening.factor)
        strides[coarsening.dimension] = max(strides[coarsening.dimension], math.log2(coarsening.stride))
    extents = (*variant.local_size, *[1] * DIMENSIONS)[:DIMENSIONS]
    return [*factors, *(_OF_STRIDES * stride for stride in strides), *map(math.log2, extents)]
