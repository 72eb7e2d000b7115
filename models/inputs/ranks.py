"""Features as ranks, for scikit-learn's trees, and the questions of such trees as thresholds between values.

Trees are grown on ranks: scikit-learn has its inputs in single precision, which can't tell large sizes apart.
Thresholds are then put between the values that they part, halfway in octaves where both are above 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from coarsen.models.trees.arrays import Array

Inside = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Features of n inputs.

    Attributes:
        values: of each feature, those that occur, in ascending order.
        ranks: of the inputs' values among these, (n, features), for scikit-learn.
    """

    values: tuple[Array, ...]
    ranks: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a fitted tree: whether a feature, by its place, is at most a threshold."""

    feature: int
    threshold: float


def ranked(features: Array) -> Ranked:
    """Return features, (n, features), as ranks."""
    coded = [np.unique(column, return_inverse=True) for column in features.T]
    ranks = np.zeros(features.shape, dtype=np.float32)
    for place, (_, own) in enumerate(coded):
        ranks[:, place] = own
    return Ranked(tuple(values for values, _ in coded), ranks)


def read_tree(
    fitted: DecisionTreeRegressor | DecisionTreeClassifier,
    features: Ranked,
    leaf: Callable[[Inside], T],
    split: Callable[[Asked, T, T], T],
) -> T:
    """Return a tree that was fitted to ranks in another form.

    Args:
        fitted: to these ranks.
        features: the ranks.
        leaf: makes a leaf, of True for the inputs that arrive there, (n,).
        split: makes a question with what follows where the value is at most the threshold, and where it is above.
    """
    nodes = fitted.tree_
    below, above = nodes.children_left.tolist(), nodes.children_right.tolist()
    places, thresholds = nodes.feature.tolist(), nodes.threshold.tolist()

    def read(number: int, inside: Inside) -> T:
        if below[number] < 0:
            return leaf(inside)
        place, low = places[number], math.floor(thresholds[number])
        asked = Asked(place, between(*features.values[place][low : low + 2].tolist()))
        is_low = features.ranks[:, place] <= low
        return split(asked, read(below[number], inside & is_low), read(above[number], inside & ~is_low))

    return read(0, np.ones(len(features.ranks), dtype=np.bool_))


def between(low: float, high: float) -> float:
    """Return a threshold that parts two values: their geometric mean where both are above 0, else the mean."""
    middle = math.sqrt(low) * math.sqrt(high) if low > 0 else low + (high - low) / 2
    return middle if low <= middle < high else low
