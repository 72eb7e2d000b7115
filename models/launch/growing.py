"""Growing the trees: extremely randomised ones by scikit-learn, as flat arrays.

P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.ensemble import ExtraTreesRegressor

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.parts import Parts, constant_forest
from coarsen.models.launch.rows import TrainingRows, coarsening_rows, local_size_rows
from coarsen.models.trees.flat_forest import FlatForest
from coarsen.models.trees.flatten import flatten
from coarsen.processes import processors


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """The settings of the trees; METHOD.md says how they were chosen.

    Attributes:
        trees: how many.
        max_features: the share of the inputs that each split tries.
        min_samples_leaf: the fewest rows in a leaf.
    """

    trees: int = 200
    max_features: float = 0.4
    min_samples_leaf: int = 3


def grow(cases: Sequence[LaunchCase], settings: TreeSettings, seed: int) -> Parts:
    """Fit both parts.

    Args:
        cases: what is learned from; a part without rows says 0.
        settings: of the trees.
        seed: of the random numbers.
    """
    return Parts(
        _grown(local_size_rows(cases), settings, seed), _grown(coarsening_rows(cases), settings, seed + 1)
    )


def _grown(rows: TrainingRows, settings: TreeSettings, seed: int) -> FlatForest:
    if not len(rows):
        return constant_forest()
    estimator = ExtraTreesRegressor(
        n_estimators=settings.trees,
        max_features=settings.max_features,
        min_samples_leaf=settings.min_samples_leaf,
        random_state=seed,
        n_jobs=processors(),
    )
    estimator.fit(rows.inputs, rows.targets, sample_weight=rows.weights)
    return flatten([tree.tree_ for tree in estimator.estimators_]).in_half_precision()
