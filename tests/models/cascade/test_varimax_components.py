"""Standardisation, principal components and their rotation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from coarsen.features import FeatureTable
from coarsen.models.cascade.model import INPUT_COUNT, STEP_FACTORS, component_labels, input_names, step_inputs
from coarsen.models.cascade.training import GRID, fit_projection, on_grid, significant


def samples() -> np.ndarray:
    """20 samples of 5 inputs: two independent ones, the negative of the first, a constant, a little noise."""
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 20))
    noise = generator.normal(size=20)
    return np.stack([first, 3 * second + 7, -first, np.full(20, 4.0), 5 * second + noise], axis=1)


@pytest.fixture(scope="module")
def inputs(tables: Mapping[str, FeatureTable]) -> np.ndarray:
    return np.stack([step_inputs(table, factor) for table in tables.values() for factor in STEP_FACTORS])


def test_the_scores_are_uncorrelated_and_of_variance_one(inputs: np.ndarray) -> None:
    fitted = fit_projection(inputs)
    scores = fitted.scores(fitted.standardise(inputs))
    assert np.cov(scores.T, bias=True) == pytest.approx(np.eye(scores.shape[1]), abs=0.01)


def test_the_loadings_are_the_correlations_of_inputs_with_scores(inputs: np.ndarray) -> None:
    fitted = fit_projection(inputs)
    scores = fitted.scores(fitted.standardise(inputs))
    varying = inputs.std(axis=0) > 0
    correlations = np.corrcoef(inputs[:, varying].T, scores.T)[: varying.sum(), varying.sum() :]
    assert fitted.loadings[varying] == pytest.approx(correlations, abs=0.005)


def test_as_few_components_as_hold_the_variance(inputs: np.ndarray) -> None:
    shares = PCA().fit(StandardScaler().fit_transform(inputs)).explained_variance_ratio_
    kept = fit_projection(inputs).shares
    assert shares[: len(kept)].sum() >= 0.95 > shares[: len(kept) - 1].sum()
    assert kept.sum() == pytest.approx(shares[: len(kept)].sum(), abs=0.002)
    assert list(kept) == sorted(kept, reverse=True)


def test_the_rotation_leaves_what_the_components_explain() -> None:
    """The kept space is that of the principal components: inputs are rebuilt from it as well as from them."""
    values = samples()
    standardised = StandardScaler().fit_transform(values)
    projection = fit_projection(values)
    kept = PCA(n_components=2).fit(standardised).components_
    assert projection.weights @ projection.loadings.T == pytest.approx(kept.T @ kept, abs=0.002)


def test_a_rotated_component_is_one_group_of_inputs() -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 2000))
    noise = np.random.default_rng(4).normal(size=(5, 2000))
    groups = np.array([first, 2 * first, second, -second, 5 * second]) + 0.1 * noise
    loadings = fit_projection(groups.T).loadings
    expected = [[0, 1], [0, 1], [1, 0], [1, 0], [1, 0]]
    assert np.abs(loadings) == pytest.approx(np.array(expected), abs=0.05)
    assert np.sign(loadings[2:, 0]).tolist() == [1, -1, 1]


def test_a_constant_input_contributes_nothing() -> None:
    projection = fit_projection(samples())
    assert projection.standardise(samples())[:, 3].tolist() == [0.0] * 20
    assert projection.loadings[3].tolist() == projection.weights[3].tolist() == [0.0, 0.0]


def test_signs_and_order_do_not_depend_on_the_order_of_samples() -> None:
    forward, backward = (fit_projection(rows) for rows in (samples(), samples()[::-1]))
    assert np.array_equal(forward.loadings, backward.loadings)
    assert np.array_equal(forward.weights, backward.weights)


def test_the_last_bits_of_the_inputs_do_not_show(inputs: np.ndarray) -> None:
    disturbed = inputs * (1 + 1e-14 * np.random.default_rng(2).normal(size=inputs.shape))
    first, second = (fit_projection(rows) for rows in (inputs, disturbed))
    for part in ("mean", "scale", "loadings", "weights", "shares"):
        assert np.array_equal(getattr(first, part), getattr(second, part)), part


def test_samples_that_are_all_alike_are_refused() -> None:
    with pytest.raises(ValueError, match="all samples are alike"):
        fit_projection(np.ones((5, 3)))


def test_components_are_named_by_what_loads_on_them() -> None:
    loadings = np.zeros((INPUT_COUNT, 3))
    names = input_names()
    loadings[names.index("loads"), 0] = 0.9
    loadings[names.index("growth of stores"), 0] = -0.7
    loadings[names.index("barriers"), 0] = 0.49
    loadings[names.index("barriers"), 1] = -0.95
    loadings[names.index("loads"), 1] = 0.3
    loadings[[names.index(name) for name in ("barriers", "loads", "stores")], 2] = 0.5, 0.7, 0.6
    assert component_labels(loadings) == (
        "loads, less growth of stores",
        "less barriers, loads",
        "loads, stores, barriers",
    )


def test_on_grid_rounds_and_has_no_negative_zero() -> None:
    rounded = on_grid(np.array([0.3, -1e-9, GRID]))
    assert rounded[2] == GRID
    assert not np.signbit(rounded[1])
    assert abs(rounded[0] - 0.3) <= GRID / 2


def test_significant_keeps_small_and_large_numbers() -> None:
    values = np.array([1e-9, 0.0, 3.0, -1e12 / 3])
    assert significant(values) == pytest.approx(values, rel=2**-23)
    assert np.array_equal(significant(values), significant(values * (1 + 1e-15)))
