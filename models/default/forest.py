"""A forest of extremely randomised trees, each on a bootstrap sample of groups, as a scikit-learn estimator.

A group is what must be held out together, such as all curves of one kernel. Each tree is grown on groups drawn
with replacement; what the trees that never drew a group say of its rows is as if the group had been held out.

Trees: P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006). Out-of-bag
estimates: L. Breiman, "Random forests", Machine Learning 45 (2001), with groups in place of rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from coarsen.models.default.inputs import Array
from coarsen.models.trees.flat_forest import FlatForest, flatten

_LARGEST_SEED = 2**31 - 1


class CurveForest(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no annotations
    """A regression forest that keeps the variance between its trees, and out-of-bag answers by group.

    Args:
        n_estimators: the number of trees.
        max_features: the share of the inputs that each split tries.
        min_samples_leaf: the fewest rows in a leaf.
        random_state: an integer for the same forest each time.
        n_jobs: threads that grow trees, one if None; the forest is the same for any number.

    Attributes:
        forest_: the trees as flat arrays.
        oob_prediction_, oob_variance_: mean and variance, each (n,), over the trees that never saw a row's group;
            NaN where every tree has.
        groups_, drawn_: the g groups, in rising order, and how often each tree drew each of them, (trees, g).
        n_features_in_: the number of inputs.
    """

    forest_: FlatForest
    oob_prediction_: Array
    oob_variance_: Array

    def __init__(
        self,
        n_estimators: int = 300,
        max_features: float = 0.5,
        min_samples_leaf: int = 3,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees.

        Args:
            X: inputs of shape (n, i).
            y: targets of shape (n,).
            sample_weight: of shape (n,); all the same if None.
            groups: each row's group, of shape (n,); each row is its own if None.
        """
        inputs, targets = validate_data(self, X, y, dtype=np.float32, y_numeric=True, order="C")
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        weights = _check_sample_weight(sample_weight, inputs, dtype=np.float64)
        names = np.arange(len(targets)) if groups is None else np.asarray(groups)
        self.groups_, member = np.unique(names, return_inverse=True)
        random = check_random_state(self.random_state)
        draws = [self._draw(random) for _ in range(self.n_estimators)]
        self.drawn_ = np.stack(draws)
        seeds = random.randint(_LARGEST_SEED, size=self.n_estimators)
        with ThreadPoolExecutor(self.n_jobs or 1) as threads:
            trees = list(
                threads.map(
                    lambda counts, seed: self._grow(inputs, targets, weights * counts[member], seed), draws, seeds
                )
            )
        self.forest_ = flatten([tree.tree_ for tree in trees])
        self._keep_out_of_bag(inputs, member, trees)
        return self

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...  # noqa: N803

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...  # noqa: N803

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:  # noqa: N803
        """Return the trees' mean for each row, shape (n,).

        With `return_std` also the deviation between the trees.
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float32, order="C", reset=False)
        mean, variance = self.forest_.predict(inputs)
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_unseen(self, X: ArrayLike, groups: ArrayLike) -> tuple[Array, Array]:  # noqa: N803
        """Mean and variance, each (n,), over the trees that never saw a row's group; NaN where there are none."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float32, order="C", reset=False)
        saw = np.zeros((self.n_estimators, len(inputs)), dtype=bool)
        for column, group in enumerate(np.asarray(groups)):
            saw[:, column] = self.drawn_[:, self.groups_ == group].any(axis=1)
        return _over(self.forest_.values(inputs).astype(np.float64), ~saw)

    def _draw(self, random: np.random.RandomState) -> NDArray[np.int64]:
        """Return how often each group is in a bootstrap sample."""
        count = len(self.groups_)
        return np.bincount(random.randint(count, size=count), minlength=count)

    def _grow(self, inputs: NDArray[np.float32], targets: Array, weights: Array, seed: int) -> ExtraTreeRegressor:
        tree = ExtraTreeRegressor(
            max_features=self.max_features, min_samples_leaf=self.min_samples_leaf, random_state=int(seed)
        )
        return tree.fit(inputs, targets, sample_weight=weights, check_input=False)

    def _keep_out_of_bag(
        self, inputs: NDArray[np.float32], member: NDArray[np.int64], trees: list[ExtraTreeRegressor]
    ) -> None:
        unseen = self.drawn_[:, member] == 0
        values = np.zeros(unseen.shape)
        for row, tree in enumerate(trees):
            chosen = unseen[row]
            if chosen.any():
                values[row, chosen] = tree.predict(inputs[chosen], check_input=False)
        self.oob_prediction_, self.oob_variance_ = _over(values, unseen)


def _over(values: Array, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean and variance over the chosen trees of each column."""
    count = chosen.sum(axis=0)
    total = np.where(count > 0, count, np.nan)
    mean = np.where(chosen, values, 0.0).sum(axis=0) / total
    squares = np.where(chosen, (values - mean) ** 2, 0.0).sum(axis=0) / total
    return mean, squares
