"""Why the default model predicts what it predicts at one factor: each feature in turn is set to its median.

The device, the factor and the dimension are left alone: they are the question.
"""

from __future__ import annotations

import numpy as np

from coarsen.features import FeatureTable, MechanismTable
from coarsen.models.default.inputs import COLUMNS_OF_FEATURE, Array, Rows
from coarsen.models.default.prediction import Influence
from coarsen.models.trees.flat_forest import FlatForest


def feature_effects(forest: FlatForest, row: Rows, medians: Rows) -> Array:
    """Return how much each feature moved a prediction, in the order of `COLUMNS_OF_FEATURE`.

    Args:
        forest: the trees that predict.
        row: a kernel's inputs on a device at one factor, (i,).
        medians: the training rows' median inputs at that factor, (i,).
    """
    predicted, _ = forest.predict(_with_medians(row, medians))
    return np.asarray(predicted[0] - predicted[1:])


def influences(
    table: FeatureTable, mechanism: MechanismTable, factor: int, effects: Array
) -> tuple[Influence, ...]:
    """Return the effects at a factor with their features' names and values, the strongest first."""
    before = {**table.at(1).by_name(), **mechanism.at(1).by_name()}
    after = {**table.at(factor).by_name(), **mechanism.at(factor).by_name()}
    found = [
        Influence(name, float(before[name]), float(after[name]), float(effect))
        for name, effect in zip(COLUMNS_OF_FEATURE, effects, strict=True)
    ]
    return tuple(sorted(found, key=lambda influence: -abs(influence.effect)))


def _with_medians(row: Rows, medians: Rows) -> Rows:
    """The row itself, then for each feature the row with that feature's inputs at their medians."""
    rows = np.tile(row, (1 + len(COLUMNS_OF_FEATURE), 1))
    for number, columns in enumerate(COLUMNS_OF_FEATURE.values(), start=1):
        rows[number, list(columns)] = medians[list(columns)]
    return rows
