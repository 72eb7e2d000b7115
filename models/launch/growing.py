"""Growing the trees: extremely randomised or boosted ones by scikit-learn, as flat arrays.

P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006); J. Friedman,
"Stochastic gradient boosting", Computational Statistics & Data Analysis 38 (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.parts import Parts, constant_forest
from coarsen.models.launch.rows import TrainingRows, coarsening_rows, local_size_rows
from coarsen.models.trees.flat_forest import FlatForest, flatten
from coarsen.processes import processors

Kind = Literal["extra", "boosted"]


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """The settings of the trees; METHOD.md says how they were chosen.

    Attributes:
        kind: extremely randomised or boosted.
        trees: how many.
        max_features: the share of the inputs that each split tries.
        min_samples_leaf: the fewest rows in a leaf.
        depth: of a boosted tree, at most.
        rate: by which boosted trees are shrunk; `share` of the rows that each is grown on.
        without: groups of inputs that are left out, for ablations.
    """

    kind: Kind = "extra"
    trees: int = 200
    max_features: float = 0.4
    min_samples_leaf: int = 3
    depth: int = 6
    rate: float = 0.05
    share: float = 0.6
    without: frozenset[str] = frozenset()


def grow(cases: Sequence[LaunchCase], settings: TreeSettings, seed: int) -> Parts:
    """Fit both parts.

    Args:
        cases: what is learned from; a part without rows says 0.
        settings: of the trees.
        seed: of the random numbers.
    """
    # Imported late for its names alone: it is light.
    from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS

    return Parts(
        _grown(local_size_rows(cases), LOCAL_SIZE_INPUTS, settings, seed),
        _grown(coarsening_rows(cases), COARSENING_INPUTS, settings, seed + 1),
    )


def _grown(
    rows: TrainingRows, columns: Sequence[tuple[str, str]], settings: TreeSettings, seed: int
) -> FlatForest:
    if not len(rows):
        return constant_forest()
    kept = np.array([group not in settings.without for group, _ in columns], dtype=np.bool_)
    # A column that is always 0 is never split at: the stored trees need not know that it was left out.
    inputs = np.where(kept, rows.inputs, np.float32(0.0)).astype(np.float32)
    estimator = estimator_of(settings, seed)
    estimator.fit(inputs, rows.targets, sample_weight=rows.weights)
    return flat(estimator).in_half_precision()


def estimator_of(settings: TreeSettings, seed: int) -> Any:  # noqa: ANN401 (scikit-learn has no annotations)
    """Return scikit-learn's regressor of these settings, not fitted yet."""
    if settings.kind == "extra":
        return ExtraTreesRegressor(
            n_estimators=settings.trees,
            max_features=settings.max_features,
            min_samples_leaf=settings.min_samples_leaf,
            random_state=seed,
            n_jobs=processors(),
        )
    return GradientBoostingRegressor(
        n_estimators=settings.trees,
        max_features=settings.max_features,
        min_samples_leaf=settings.min_samples_leaf,
        max_depth=settings.depth,
        learning_rate=settings.rate,
        subsample=settings.share,
        random_state=seed,
    )


def flat(estimator: Any) -> FlatForest:  # noqa: ANN401 (as above)
    """Return a fitted regressor's trees as flat arrays, whose mean is what it predicts.

    Boosted trees add up: each leaf is taken as often as there are trees, and has the first guess in it.
    """
    if isinstance(estimator, ExtraTreesRegressor):
        return flatten([tree.tree_ for tree in estimator.estimators_])
    trees = [_Nodes.of(tree.tree_) for tree in estimator.estimators_[:, 0]]
    first = float(estimator.init_.constant_.ravel()[0])
    rate = float(estimator.learning_rate)
    return flatten([tree.scaled(rate * len(trees), first) for tree in trees])


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of one of scikit-learn's trees, as `flatten` takes them."""

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, tree: Any) -> _Nodes:  # noqa: ANN401 (as above)
        return cls(tree.children_left, tree.children_right, tree.feature, tree.threshold, tree.value)

    @property
    def node_count(self) -> int:
        return len(self.feature)

    def scaled(self, scale: float, offset: float) -> _Nodes:
        return _Nodes(
            self.children_left, self.children_right, self.feature, self.threshold, self.value * scale + offset
        )
