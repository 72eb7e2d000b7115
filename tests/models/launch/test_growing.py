"""Grown trees: as flat arrays they say what scikit-learn says, and nothing is fitted on kernels kept apart."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import flatten
from coarsen.models.launch.training import coarsening_rows, grow
from tests.models.launch.made_up import SMALL, case, cases


def test_flat_trees_say_what_scikit_learn_says() -> None:
    rows = coarsening_rows(cases(6))
    estimator = ExtraTreesRegressor(n_estimators=9, min_samples_leaf=3, random_state=3)
    estimator.fit(rows.inputs, rows.targets, sample_weight=rows.weights)
    found = flatten([tree.tree_ for tree in estimator.estimators_]).mean(rows.inputs)
    assert found == pytest.approx(estimator.predict(rows.inputs), abs=2e-5)


def test_the_same_seed_gives_the_same_trees() -> None:
    learned = cases(4)
    first, again, other = (grow(learned, SMALL, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.coarsened.number, again.coarsened.number)
    assert not np.array_equal(first.coarsened.number[:50], other.coarsened.number[:50])


def test_a_part_without_rows_says_nothing() -> None:
    parts = grow([], SMALL, 0)
    measured = case(0, 0.5)
    assert parts.log_speeds(measured.inputs).tolist() == [0.0] * len(measured.inputs.variants)


def test_nothing_is_fitted_on_calibration_kernels_nor_on_the_judges() -> None:
    with pytest.raises(InvalidInputError, match="launch-0-9 is a kernel of the calibration set"):
        grow([*cases(2), case(9, 0.5, kernel="launch-0-9")], SMALL, 0)
    with pytest.raises(InvalidInputError, match="judge-heat is a kernel of the second judge"):
        grow([*cases(2), case(9, 0.5, kernel="judge-heat")], SMALL, 0)
