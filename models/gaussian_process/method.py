"""The Gaussian process as a method of the evaluation: it keeps measured examples, and chooses factors.

training examples ─▶ inputs, standardised over their kernels ─▶ curves at all factors ─▶ utility ─▶ factor
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.features import FACTORS
from coarsen.models.default.inputs import compressed
from coarsen.models.evaluation.method import Choice
from coarsen.models.examples import Example
from coarsen.models.gaussian_process.process import Array, Points, losses, posterior

COARSENED = FACTORS[1:]
# A loss counts so many times more than a gain of the same size.
AVERSION = 2.0
# Natural logarithms of speed-ups: what is gained or lost more than fourfold says no more than that.
MOST_LOG = math.log(4.0)


class GaussianProcess:
    """A method that learns from the measured examples of the devices that it is asked about, however few."""

    name = "gaussian-process"

    def fit(self, training: Sequence[Example], seed: int) -> GaussianPredictor:
        """Keep the measured examples; the seed changes nothing."""
        return GaussianPredictor(tuple(example for example in training if example.speedup))


@dataclass(frozen=True)
class GaussianPredictor:
    """What was learned from: the curves themselves."""

    training: tuple[Example, ...]

    def choose(self, example: Example) -> Choice:
        """Return the factor of the largest utility among those that divide; 1 for a device without examples."""
        known = tuple(each for each in self.training if each.dimension == example.dimension)
        factors = _factors(example)
        if not any(each.device == example.device for each in known) or not factors:
            return Choice(1)
        scale = Scale.of([place_of(each) for each in known])
        learned = [(each, factor) for each in known for factor in COARSENED if factor in each.speedup]
        speeds = np.array([each.log_speedup(factor) for each, factor in learned])
        found = posterior(
            scale.points(learned),
            np.clip(speeds, -MOST_LOG, MOST_LOG),
            scale.points([(example, f) for f in factors]),
        )
        utilities = found.means - AVERSION * losses(found.means, found.variances)
        best = int(np.argmax(utilities))
        return Choice(factors[best] if utilities[best] > 0 else 1)


def place_of(example: Example) -> Array:
    """Return where a kernel lies among others, (p,): its mechanism features at factor 1."""
    return compressed(example.mechanism.at(1).vector())


@dataclass(frozen=True)
class Scale:
    """The means and deviations of the training kernels' inputs, (p,), without those that are all alike."""

    kept: NDArray[np.int64]
    means: Array
    deviations: Array

    @classmethod
    def of(cls, places: Sequence[Array]) -> Scale:
        """Return the scale of some kernels."""
        rows = np.unique(np.array(places), axis=0)
        kept = np.flatnonzero(rows.std(axis=0) > 1e-9).astype(np.int64)
        return cls(kept, rows.mean(axis=0)[kept], rows.std(axis=0)[kept])

    def points(self, asked: Sequence[tuple[Example, int]]) -> Points:
        """Return examples at factors as points."""
        rows = np.array([place_of(example) for example, _ in asked])[:, self.kept]
        return Points(
            inputs=(rows - self.means) / self.deviations,
            families=tuple(example.family for example, _ in asked),
            devices=tuple(example.device for example, _ in asked),
            steps=np.log2([float(factor) for _, factor in asked]),
        )


def _factors(example: Example) -> tuple[int, ...]:
    """The factors above 1 that divide the launch."""
    size = example.local_size
    if size is None:
        return COARSENED
    extent = size[example.dimension] if example.dimension < len(size) else 1
    return tuple(factor for factor in COARSENED if extent % factor == 0)
