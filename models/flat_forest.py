"""A forest as flat arrays, and its answers in NumPy: all trees, and all rows, walk one level at a time.

Nodes stand level by level, those of all trees in one sequence: first the roots, then their children, and so on.
The children of the n-th inner node (counted from 0) are therefore the nodes T + 2n and T + 2n + 1, where T is the
number of trees, and no pointers need storing:

    feature  (nodes,)   the input that an inner node asks about, 255 at a leaf
    number   (nodes,)   an inner node's threshold, a leaf's value

A row goes to the first child where its input is at most the threshold. Both are kept as they are stored, in three
bytes a node: there are millions, and to write them otherwise would take as long as to walk through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Inputs, (rows, inputs).
Rows = NDArray[np.float32]
LEAF = 255
_LARGEST = float(np.finfo(np.float16).max)


@dataclass(frozen=True)
class FlatForest:
    """A forest's trees: `trees` of them, `feature` uint8 and `number` float16 or float32, of shape (nodes,)."""

    trees: int
    feature: NDArray[np.uint8]
    number: NDArray[np.float16] | NDArray[np.float32]

    @cached_property
    def is_inner(self) -> NDArray[np.bool_]:
        """Return True for the nodes that are no leaves, (nodes,)."""
        return np.asarray(self.feature != LEAF)

    @cached_property
    def _first_child(self) -> NDArray[np.int32]:
        """Each inner node's first child; at a leaf, something that is never used."""
        # In place and in 32 bits: with millions of nodes, temporary arrays would take most of the time.
        child = self.is_inner.astype(np.int32)
        np.cumsum(child, out=child)
        child -= 1
        child *= 2
        child += np.int32(self.trees)
        return child

    def values(self, rows: Rows) -> NDArray[np.float32]:
        """Return each tree's answer for each row of inputs (n, i), of shape (trees, n)."""
        count = len(rows)
        flat = np.ascontiguousarray(rows, dtype=np.float32).ravel()
        node = np.repeat(np.arange(self.trees, dtype=np.int32), count)
        start = np.tile(np.arange(count, dtype=np.int64) * rows.shape[1], self.trees)
        walking = np.flatnonzero(self.is_inner[node])
        while walking.size:
            at = node[walking]
            beyond = flat[start[walking] + self.feature[at]] > self.number[at]
            reached = self._first_child[at] + beyond
            node[walking] = reached
            walking = walking[self.is_inner[reached]]
        return self.number[node].astype(np.float32).reshape(self.trees, count)

    def mean(self, rows: Rows) -> Array:
        """Return the trees' mean for each row, (n,)."""
        return np.asarray(self.values(rows).astype(np.float64).mean(axis=0))

    def in_half_precision(self) -> FlatForest:
        """Return the same forest with numbers that half precision can hold.

        Thresholds are rounded down: of inputs in half precision, the same are at most them. Leaves are rounded to
        the nearest number, by at most one part in two thousand.
        """
        nearest = self.number.astype(np.float16)
        below = np.nextafter(nearest, np.float16(-np.inf))
        is_too_large = self.is_inner & (nearest > self.number)
        return replace(self, number=np.where(is_too_large, below, nearest))

    def check(self, inputs: int, largest: float) -> None:
        """Raise ValueError where the arrays are no forest over that many inputs, its leaves at most so large."""
        if self.feature.ndim != 1 or self.feature.shape != self.number.shape:
            raise ValueError("the arrays of its trees differ in shape")
        if self.feature.dtype != np.uint8 or self.number.dtype not in (np.float16, np.float32):
            raise ValueError("the arrays of its trees are of another type")
        if self.trees < 1 or self.feature.size != self.trees + 2 * np.count_nonzero(self.is_inner):
            raise ValueError("its trees have too many or too few nodes")
        if (self.is_inner & (self.feature >= inputs)).any():
            raise ValueError("its trees ask about inputs that are not there")
        if not np.isfinite(self.number).all():
            raise ValueError("its trees hold numbers that are not finite")
        if not (self.is_inner | (np.abs(self.number) <= largest)).all():
            raise ValueError(f"its trees have leaves that are not in -{largest:g} to {largest:g}")
        if ((self._first_child <= np.arange(self.feature.size, dtype=np.int32)) & self.is_inner).any():
            raise ValueError("its trees go round in circles")


def flatten(trees: Sequence[Any]) -> FlatForest:
    """Bring the nodes of all trees (scikit-learn's `tree_`) into one sequence, level by level.

    A threshold is rounded down to single precision: of inputs in single precision, the same are at most it. There
    may be 255 inputs.
    """
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
        feature=np.where(is_leaf, LEAF, feature).astype(np.uint8),
        number=number.astype(np.float32),
    )


def _joined(trees: Sequence[Any], starts: NDArray[np.int64], side: str) -> NDArray[np.int64]:
    """The children of all nodes, numbered through over all trees; negative at leaves."""
    children = [getattr(tree, side).astype(np.int64) for tree in trees]
    moved = [np.where(child < 0, -1, child + start) for child, start in zip(children, starts, strict=False)]
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


def in_half_precision(values: Array) -> Rows:
    """Return inputs rounded to half precision, so that thresholds between them can be stored in it."""
    return np.clip(values, -_LARGEST, _LARGEST).astype(np.float16).astype(np.float32)
