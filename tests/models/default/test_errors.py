"""The error's distribution and the step's, fitted to errors that were drawn from a known one."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.default.error_model import ErrorModel, fit_error_model
from coarsen.models.default.inputs import Array
from coarsen.models.default.step_errors import fit_step_errors
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.trees.quantiles import weighted_quantiles

VARIANCE = np.array([0.01, 0.02, 0.03, 0.05, 0.08])
RATIO = 20.0
CORRELATION = 0.7
POCL = DEVICE_DESCRIPTORS["pocl"]


def fitted_on_one_device(observed: Array, mean: Array, between: Array) -> ErrorModel:
    """The error model of curves of the same weight."""
    return fit_error_model(observed, mean, between, np.ones(len(mean)), [POCL] * len(mean))


def drawn(count: int = 3000, seed: int = 0) -> tuple[Array, Array, Array]:
    """Observed curves, means and variances between trees; the error's variance is c_f (1 + ρ v)."""
    random = np.random.default_rng(seed)
    between = random.uniform(0.0, 0.2, size=(count, 5))
    mean = random.normal(0.0, 0.3, size=(count, 1)) * np.arange(1, 6)
    shape = np.full((5, 5), CORRELATION) + (1.0 - CORRELATION) * np.eye(5)
    standard = random.multivariate_normal(np.zeros(5), shape, size=count)
    return mean + standard * np.sqrt(VARIANCE * (1.0 + RATIO * between)), mean, between


def test_variances_ratio_and_correlation_are_found_again() -> None:
    observed, mean, between = drawn()
    model = fitted_on_one_device(observed, mean, between)
    assert model.variance * (1.0 + model.ratio * 0.1) == pytest.approx(VARIANCE * (1.0 + RATIO * 0.1), rel=0.1)
    assert model.ratio == pytest.approx(RATIO, rel=0.35)
    assert model.correlation[np.triu_indices(5, 1)] == pytest.approx(CORRELATION, abs=0.05)
    assert model.interval == pytest.approx([-1.2816, 1.2816], abs=0.05)


def test_curves_with_gaps_are_used_as_far_as_they_go() -> None:
    observed, mean, between = drawn()
    random = np.random.default_rng(1)
    observed = np.where(random.uniform(size=observed.shape) < 0.4, np.nan, observed)
    model = fitted_on_one_device(observed, mean, between)
    assert model.correlation[np.triu_indices(5, 1)] == pytest.approx(CORRELATION, abs=0.08)
    assert np.linalg.eigvalsh(model.correlation).min() > 0.0


def test_a_factor_that_nobody_measured_is_as_uncertain_as_the_worst() -> None:
    observed, mean, between = drawn(200)
    observed[:, 4] = np.nan
    model = fitted_on_one_device(observed, mean, between)
    assert model.variance[4] == model.variance[:4].max()


def test_without_errors_there_is_nothing_to_fit() -> None:
    observed, mean, between = drawn(10)
    with pytest.raises(ValueError, match="had not seen"):
        fitted_on_one_device(observed * np.nan, mean, between)


@pytest.mark.parametrize("shrunk", [1.0, 0.5])
def test_step_probabilities_are_the_shares_that_come_true(shrunk: float) -> None:
    """Also where predictions are too small by half."""
    observed, mean, between = drawn()
    fresh, fresh_mean, fresh_between = drawn(seed=1)
    model = fitted_on_one_device(observed, shrunk * mean, between)
    curves = [model.distribution(*curve, POCL) for curve in zip(shrunk * mean, between, strict=True)]
    steps = fit_step_errors(curves, observed, np.ones(len(mean)))
    asked = [model.distribution(*curve, POCL) for curve in zip(shrunk * fresh_mean, fresh_between, strict=True)]
    said = np.array([[steps.probability(curve, factor) for factor in curve.steps()] for curve in asked]).ravel()
    helped = (np.diff(fresh, axis=1, prepend=0.0) > 0.0).ravel()
    for low in np.arange(0.0, 1.0, 0.2):
        chosen = (said >= low) & (said < low + 0.2)
        assert helped[chosen].mean() == pytest.approx(said[chosen].mean(), abs=0.07)


def test_weighted_quantiles_by_hand() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert weighted_quantiles(values, weights, np.array([0.125, 0.5, 0.875])).tolist() == [1.0, 2.0, 3.0]
    assert weighted_quantiles(values, weights, np.array([0.3125]))[0] == pytest.approx(1.5)
