"""From scikit-learn's trees to the flat arrays of `flat_forest.py`.

A threshold is rounded down to single precision: of inputs in single precision, the same are at most it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.models.trees.flat_forest import LEAF, FlatForest


def flatten(trees: Sequence[Any]) -> FlatForest:
    """Bring the nodes of all trees (scikit-learn's `tree_`) into one sequence, level by level."""
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    left, right = (_joined(trees, starts, side) for side in ("children_left", "children_right"))
    order = _by_level(starts[:-1], left, right)
    feature = np.concatenate([tree.feature for tree in trees])[order]
    threshold = np.concatenate([tree.threshold for tree in trees])[order]
    value = np.concatenate([tree.value[:, 0, 0] for tree in trees])[order]
    is_leaf = left[order] < 0
    number = np.where(is_leaf, value.astype(np.float32), _rounded_down(threshold))
    return FlatForest(
        trees=len(trees),
        feature=np.where(is_leaf, LEAF, feature).astype(np.int16),
        number=number.astype(np.float32),
    )


def _joined(trees: Sequence[Any], starts: NDArray[np.int64], side: str) -> NDArray[np.int64]:
    """The children of all nodes, numbered through over all trees; negative at leaves."""
    children = [getattr(tree, side).astype(np.int64) for tree in trees]
    moved = [np.where(child < 0, LEAF, child + start) for child, start in zip(children, starts, strict=False)]
    return np.concatenate(moved)


def _by_level(roots: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    levels, level = list[NDArray[np.int64]](), roots
    while level.size:
        levels.append(level)
        inner = level[left[level] >= 0]
        level = np.stack([left[inner], right[inner]], axis=1).ravel()
    return np.concatenate(levels)


def _rounded_down(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    nearest = threshold.astype(np.float32)
    return np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
