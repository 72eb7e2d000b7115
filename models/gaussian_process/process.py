"""A Gaussian process over the curves of kernels on devices: log speed-ups by factor, with their uncertainty.

    covariance = steps(f, f′) · devices(d, d′) · (common + alike · exp(−‖x − x′‖² / 2pℓ²) + own · [same family])

Its parameters are not chosen: what is predicted is the mean over a grid of them, each weighted by how likely it
makes what was learned from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Of a measured log speed-up.
NOISE = 0.001


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a covariance.

    Attributes:
        common: variance of what all kernels share, at factor 8.
        alike: variance of what kernels share as far as their inputs are near.
        own: variance of what a family has for itself.
        length: the distance, in root mean squares over inputs, at which kernels are no longer alike.
        across: correlation of devices.
        straight: the share of a curve that is a straight line in log2 f; the rest is a random walk.
    """

    common: float
    alike: float
    own: float
    length: float
    across: float
    straight: float


GRID = tuple(
    Parameters(*values)
    for values in itertools.product(
        (0.03, 0.1), (0.03, 0.1, 0.3), (0.03, 0.1), (0.5, 1.0, 2.0), (0.3, 0.7), (0.3, 0.7)
    )
)


@dataclass(frozen=True)
class Points:
    """Where n curves are known, or asked for.

    Attributes:
        inputs: of the kernels, standardised, (n, p).
        families: of the kernels, (n,).
        devices: their names, (n,).
        steps: log2 of the factors, (n,).
    """

    inputs: Array
    families: Sequence[str]
    devices: Sequence[str]
    steps: Array


@dataclass(frozen=True)
class Posterior:
    """Means and variances of log speed-ups, (n,)."""

    means: Array
    variances: Array


def posterior(known: Points, speeds: Array, asked: Points) -> Posterior:
    """Return what is expected of curves.

    Args:
        known: where log speed-ups are known.
        speeds: these, (n,).
        asked: where they are asked for.
    """
    within, between, alone = Pair.of(known, known), Pair.of(asked, known), Pair.of(asked, asked)
    found = [_of(parameters, speeds, (within, between, alone)) for parameters in GRID]
    likelihoods = np.array([each[0] for each in found])
    weights = np.exp(likelihoods - likelihoods.max())
    weights /= weights.sum()
    means = np.array([each[1] for each in found])
    mean = weights @ means
    variance = weights @ (np.array([each[2] for each in found]) + (means - mean) ** 2)
    return Posterior(mean, variance)


def _of(parameters: Parameters, speeds: Array, pairs: tuple[Pair, Pair, Pair]) -> tuple[float, Array, Array]:
    """The log likelihood, and means and variances, under some parameters."""
    within, between, alone = (pair.covariance(parameters) for pair in pairs)
    root = np.linalg.cholesky(within + NOISE * np.eye(len(within)))
    solved = np.linalg.solve(root, speeds)
    crossed = np.linalg.solve(root, between.T)
    likelihood = -0.5 * float(solved @ solved) - float(np.log(np.diag(root)).sum())
    return likelihood, crossed.T @ solved, np.diag(alone) - (crossed**2).sum(axis=0)


@dataclass(frozen=True)
class Pair:
    """What the covariance of points with others is made of, each (n, m).

    Attributes:
        distances: mean squares of differences of inputs.
        same_family, same_device: 1 where they are the same, else 0.
        products: of steps; `least`: the lesser step.
    """

    distances: Array
    same_family: Array
    same_device: Array
    products: Array
    least: Array

    @classmethod
    def of(cls, one: Points, other: Points) -> Pair:
        """Return the parts for all pairs of points."""
        count = max(1, one.inputs.shape[1])
        squares = (one.inputs**2).sum(axis=1)[:, None] + (other.inputs**2).sum(axis=1)[None, :]
        return cls(
            distances=np.maximum(squares - 2.0 * one.inputs @ other.inputs.T, 0.0) / count,
            same_family=_same(one.families, other.families),
            same_device=_same(one.devices, other.devices),
            products=np.outer(one.steps, other.steps),
            least=np.minimum.outer(one.steps, other.steps),
        )

    def covariance(self, chosen: Parameters) -> Array:
        """Return the covariance under some parameters."""
        kernels = (
            chosen.common
            + chosen.alike * np.exp(-self.distances / (2.0 * chosen.length**2))
            + chosen.own * self.same_family
        )
        devices = chosen.across + (1.0 - chosen.across) * self.same_device
        # 1 at factor 8.
        steps = chosen.straight * self.products / 9.0 + (1.0 - chosen.straight) * self.least / 3.0
        return np.asarray(kernels * devices * steps)


def _same(one: Sequence[str], other: Sequence[str]) -> Array:
    return np.array([[float(a == b) for b in other] for a in one]).reshape(len(one), len(other))


def losses(means: Array, variances: Array) -> Array:
    """Return E max(0, −y) of normal y, (n,)."""
    deviations = np.sqrt(np.maximum(variances, 1e-12))
    ratios = means / deviations
    density = np.exp(-0.5 * ratios**2) / math.sqrt(2.0 * math.pi)
    below = np.array([0.5 * math.erfc(ratio / math.sqrt(2.0)) for ratio in ratios])
    return np.asarray(deviations * density - means * below)
