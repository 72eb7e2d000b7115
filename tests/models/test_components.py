"""Standardisation and principal components."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.components import GRID, fit_projection, on_grid


def samples() -> np.ndarray:
    """20 samples of 5 inputs: two independent ones, the negative of the first, a constant, a little noise."""
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 20))
    noise = generator.normal(size=20)
    return np.stack([first, 3 * second + 7, -first, np.full(20, 4.0), 5 * second + noise], axis=1)


def test_the_kept_components_hold_the_variance_and_no_more() -> None:
    inputs = samples()
    projection = fit_projection(inputs)
    standardised = projection.standardise(inputs)
    projected = projection.project(standardised)
    assert projected.shape == (20, 2)
    share = projected.var(axis=0) / standardised.var(axis=0).sum()
    assert share.sum() >= 0.95
    assert share[0] < 0.95


def test_components_are_orthonormal_up_to_the_grid() -> None:
    components = fit_projection(samples()).components
    assert components @ components.T == pytest.approx(np.eye(2), abs=10 * GRID)


def test_a_constant_input_contributes_nothing() -> None:
    projection = fit_projection(samples())
    assert projection.standardise(samples())[:, 3].tolist() == [0.0] * 20
    assert projection.components[:, 3].tolist() == [0.0, 0.0]


def test_signs_do_not_depend_on_the_order_of_samples() -> None:
    forward, backward = fit_projection(samples()), fit_projection(samples()[::-1])
    assert np.array_equal(forward.components, backward.components)


def test_the_last_bits_of_the_inputs_do_not_show() -> None:
    inputs = samples()
    disturbed = inputs * (1 + 1e-14 * np.random.default_rng(2).normal(size=inputs.shape))
    first, second = fit_projection(inputs), fit_projection(disturbed)
    assert np.array_equal(first.components, second.components)
    assert np.array_equal(first.mean, second.mean)


def test_on_grid_rounds_and_has_no_negative_zero() -> None:
    rounded = on_grid(np.array([0.3, -1e-9, GRID]))
    assert rounded[2] == GRID
    assert not np.signbit(rounded[1])
    assert abs(rounded[0] - 0.3) <= GRID / 2
