"""How wrong the forest is: the distribution of its error over a curve, learned from out-of-bag errors.

Notation: at factor f of a curve, y is the log speed-up, m the mean over the trees and v the variance between them.

    y − m ~ N(0, t c_f (1 + ρ v)),   correlation R_fg between the factors of one curve

so the error's variance is a + b v with a = t c_f and b = ρ a. The numbers c, ρ are those of maximum likelihood
over all devices together: for a given ρ, c_f is the mean of (y − m)² / (1 + ρ v), and ρ is searched on a fixed
grid. t is a device's own (`device_scales.py`), for devices differ in how well their curves can be predicted. R is
the correlation of the errors standardised by all of it, made positive definite. Errors have heavier tails than a
Gaussian's, so intervals are read off the standardised errors that were seen, not off Φ. `step_errors.py` has the
probability that a step helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.default.device_scales import DeviceScales, fit_device_scales
from coarsen.models.default.inputs import COARSENED, Array
from coarsen.models.default.joint import CurveDistribution
from coarsen.models.device_descriptors import DeviceDescriptor
from coarsen.models.trees.quantiles import weighted_quantiles

INTERVAL = (0.1, 0.9)
_RATIOS = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 141)])
_SMALLEST_VARIANCE = 1e-8
_SMALLEST_EIGENVALUE = 1e-3


@dataclass(frozen=True)
class ErrorModel:
    """The error's distribution over the factors 2 to 32 (F of them).

    Args:
        ratio: ρ.
        scales: t by device.
        variance: c, shape (F,).
        correlation: R, shape (F, F).
        interval: the standardised error's quantiles that bound an 80 % interval, shape (2,).
    """

    ratio: float
    scales: DeviceScales
    variance: Array
    correlation: Array
    interval: Array

    def distribution(self, mean: Array, between: Array, device: DeviceDescriptor) -> CurveDistribution:
        """Return the joint distribution on a device, from the trees' mean and variance, each (F,)."""
        deviation = np.sqrt(self.scales.of(device) * self.variance * (1.0 + self.ratio * between))
        return CurveDistribution(COARSENED, mean, np.outer(deviation, deviation) * self.correlation)

    def bounds(self, curve: CurveDistribution) -> tuple[Array, Array]:
        """Return the lower and the upper end of an 80 % interval at each factor."""
        low, high = (curve.mean + quantile * curve.deviation for quantile in self.interval)
        return low, high


def fit_error_model(
    observed: Array, mean: Array, between: Array, weights: Array, devices: Sequence[DeviceDescriptor]
) -> ErrorModel:
    """Fit the error's distribution.

    Args:
        observed: log speed-ups of n curves, (n, F), NaN where not measured.
        mean: what trees that had not seen the kernel say, (n, F).
        between: the variance between those trees, (n, F).
        weights: each curve's weight, (n,).
        devices: each curve's device.

    Raises:
        ValueError: there is not one error to learn from.
    """
    errors = observed - mean
    known = np.isfinite(errors)
    if not known.any():
        raise ValueError("no curve was predicted by trees that had not seen its kernel")
    weight = np.where(known, weights[:, np.newaxis], 0.0)
    squares = np.where(known, errors**2, 0.0)
    spread = np.where(known, between, 0.0)
    ratio = _ratio(squares, spread, weight)
    variance = _variances(squares / (1.0 + ratio * spread), weight)
    shared = variance * (1.0 + ratio * spread)
    scales = fit_device_scales(squares / shared, weight, devices)
    own = np.array([scales.of(device) for device in devices])
    standardised = np.where(known, errors, 0.0) / np.sqrt(own[:, np.newaxis] * shared)
    return ErrorModel(
        ratio=ratio,
        scales=scales,
        variance=variance,
        correlation=_correlation(standardised, weight),
        interval=weighted_quantiles(standardised[known], weight[known], np.array(INTERVAL)),
    )


def _ratio(squares: Array, spread: Array, weight: Array) -> float:
    """The ρ of the largest likelihood; the grid is in units of one over the mean variance between trees."""
    mean_spread = float((weight * spread).sum() / weight.sum())
    if mean_spread == 0.0:
        return 0.0
    ratios = _RATIOS / mean_spread
    losses = [_minus_log_likelihood(squares, 1.0 + ratio * spread, weight) for ratio in ratios]
    return float(ratios[int(np.argmin(losses))])


def _minus_log_likelihood(squares: Array, scale: Array, weight: Array) -> float:
    """Twice the negative logarithm of the profile likelihood, constants left out."""
    variance = _variances(squares / scale, weight)
    return float((weight * (np.log(scale) + np.log(variance))).sum())


def _variances(squares: Array, weight: Array) -> Array:
    """The weighted mean at each factor; at a factor that nobody measured, the largest of the others'."""
    total = weight.sum(axis=0)
    mean = (weight * squares).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    mean = np.where(total > 0.0, mean, mean.max())
    return np.asarray(np.maximum(mean, _SMALLEST_VARIANCE))


def _correlation(standardised: Array, weight: Array) -> Array:
    """The weighted correlation over curves that have both factors, made positive definite."""
    shared = np.minimum(weight[:, :, np.newaxis], weight[:, np.newaxis, :])
    products = np.einsum("nfg,nf,ng->fg", shared, standardised, standardised)
    squares = np.einsum("nfg,nf->fg", shared, standardised**2)
    norm = np.sqrt(squares * squares.T)
    raw = np.where(norm > 0.0, products / np.where(norm > 0.0, norm, 1.0), 0.0)
    np.fill_diagonal(raw, 1.0)
    values, vectors = np.linalg.eigh(raw)
    definite = (vectors * np.maximum(values, _SMALLEST_EIGENVALUE)) @ vectors.T
    deviation = np.sqrt(np.diagonal(definite))
    return np.asarray(definite / np.outer(deviation, deviation))
