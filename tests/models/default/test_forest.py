"""The forest as an estimator: scikit-learn's own checks, groups held out, and the same answers in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from coarsen.models.default.forest import CurveForest
from coarsen.models.default.inputs import Array, Rows
from coarsen.models.trees.flat_forest import LEAF, FlatForest, flatten

# A weight is not the same as a repeated row: leaves count rows, and a repeated row is drawn on its own.
_NOT_MET = {
    "check_sample_weight_equivalence_on_dense_data": "leaves count rows and samples are drawn by row",
}


def sample(count: int = 120, seed: int = 0) -> tuple[Rows, Array, Array]:
    """Inputs, targets with steps in them, and groups of four rows."""
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(count, 6)).astype(np.float32)
    targets = np.where(inputs[:, 0] > 0.3, 2.0, -1.0) + inputs[:, 1] + 0.1 * random.normal(size=count)
    return inputs, targets, np.repeat(np.arange(count // 4), 4)


def small(**settings: int) -> CurveForest:
    return CurveForest(**{"n_estimators": 25, "random_state": 3, **settings})


@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
def test_it_passes_scikit_learns_checks() -> None:
    check_estimator(small(n_estimators=10), expected_failed_checks=_NOT_MET)


def test_numpy_answers_as_scikit_learn_does() -> None:
    inputs, targets, _ = sample()
    trees = [ExtraTreeRegressor(min_samples_leaf=2, random_state=seed).fit(inputs, targets) for seed in range(12)]
    fresh, _, _ = sample(seed=1)
    expected = np.stack([tree.predict(fresh) for tree in trees])
    flat = flatten([tree.tree_ for tree in trees])
    assert flat.values(fresh) == pytest.approx(expected, rel=1e-6)
    flat.check(inputs.shape[1])


def test_a_threshold_is_at_most_what_it_was() -> None:
    inputs = np.array([[1e3], [np.nextafter(np.float32(1e3), np.float32(2e3))]], dtype=np.float32)
    trees = [ExtraTreeRegressor(random_state=seed).fit(inputs, [0.0, 1.0]) for seed in range(20)]
    flat = flatten([tree.tree_ for tree in trees])
    assert (flat.values(inputs) == [0.0, 1.0]).all()


def test_half_precision_changes_leaves_by_little_and_no_way_through_a_tree() -> None:
    inputs, targets, _ = sample()
    inputs = inputs.astype(np.float16).astype(np.float32)
    flat = small().fit(inputs, targets).forest_
    half = flat.in_half_precision()
    assert half.values(inputs) == pytest.approx(flat.values(inputs), rel=2**-10)
    inner = flat.feature != LEAF
    assert (half.number[inner] <= flat.number[inner]).all()
    assert np.array_equal(half.number, half.number.astype(np.float16).astype(np.float32))


def test_the_seed_decides_and_the_threads_do_not() -> None:
    inputs, targets, groups = sample()
    first = small().fit(inputs, targets, groups=groups)
    again = small(n_jobs=2).fit(inputs, targets, groups=groups)
    other = small(random_state=4).fit(inputs, targets, groups=groups)
    assert np.array_equal(first.forest_.number, again.forest_.number)
    assert np.array_equal(first.oob_prediction_, again.oob_prediction_)
    assert not np.array_equal(first.oob_prediction_, other.oob_prediction_)


def test_out_of_bag_answers_know_nothing_of_the_group() -> None:
    """One group has targets like no other: trees that never saw it cannot guess them, trees that did can."""
    inputs, targets, groups = sample()
    odd = groups == 7
    targets = np.where(odd, 50.0, targets)
    forest = small(n_estimators=60).fit(inputs, targets, groups=groups)
    assert (np.abs(forest.oob_prediction_[odd]) < 4.0).all()
    assert (forest.predict(inputs[odd]) > 5.0).all()
    mean, variance = forest.predict_unseen(inputs, groups)
    assert mean == pytest.approx(forest.oob_prediction_, abs=1e-5)
    assert variance == pytest.approx(forest.oob_variance_, abs=1e-4)


def test_a_group_that_was_not_there_is_answered_by_all_trees() -> None:
    inputs, targets, groups = sample()
    forest = small().fit(inputs, targets, groups=groups)
    mean, _ = forest.predict_unseen(inputs[:5], [-1] * 5)
    assert mean == pytest.approx(forest.predict(inputs[:5]))


def test_with_one_group_nothing_is_out_of_bag() -> None:
    inputs, targets, _ = sample()
    assert np.isnan(small().fit(inputs, targets, groups=np.zeros(len(targets))).oob_prediction_).all()


def test_weights_shift_what_is_learned() -> None:
    inputs = np.zeros((40, 1), dtype=np.float32)
    targets = np.repeat([0.0, 1.0], 20)
    weights = np.repeat([1.0, 9.0], 20)
    forest = small(n_estimators=200).fit(inputs, targets, sample_weight=weights)
    assert forest.predict(inputs[:1])[0] == pytest.approx(0.9, abs=0.02)


def test_the_deviation_between_trees_is_larger_where_nothing_was_seen() -> None:
    inputs, targets, groups = sample(400)
    forest = clone(small(n_estimators=100)).fit(inputs, targets, groups=groups)
    _, inside = forest.predict(np.array([[1.0, 0.0, 0, 0, 0, 0]]), return_std=True)
    _, between = forest.predict(np.array([[0.3, 3.0, 0, 0, 0, 0]]), return_std=True)
    assert between[0] > inside[0]


@pytest.mark.parametrize(
    ("feature", "number", "message"),
    [
        ([0, -1, -1], [0.0, 1.0], "shape"),
        ([0, -1], [0.0, 1.0], "too many or too few"),
        ([5, -1, -1], [0.0, 1.0, 2.0], "not there"),
        ([0, -1, -1], [0.0, np.nan, 2.0], "finite"),
    ],
)
def test_arrays_that_are_no_forest_are_refused(feature: list[int], number: list[float], message: str) -> None:
    forest = FlatForest(1, np.array(feature, dtype=np.int16), np.array(number, dtype=np.float32))
    with pytest.raises(ValueError, match=message):
        forest.check(3)
