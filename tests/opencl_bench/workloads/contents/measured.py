"""Numbers that describe contents: functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]


def variation_of_lengths(starts: Whole) -> float:
    """Return the standard deviation of the lengths between starts, over their mean; 0 where all are empty."""
    lengths = np.diff(starts)
    mean = float(lengths.mean())
    return float(lengths.std()) / mean if mean else 0.0


def longest_over_mean(starts: Whole) -> float:
    """Return the longest length between starts, over their mean; 1 where all are empty."""
    lengths = np.diff(starts)
    mean = float(lengths.mean())
    return float(lengths.max()) / mean if mean else 1.0


def mean_jump(indices: Whole) -> float:
    """Return the mean distance of neighbouring indices; 0 where there is one alone."""
    if len(indices) < 2:
        return 0.0
    return float(np.abs(np.diff(indices.astype(np.int64))).mean())


def column_spread(row_starts: Whole, column_indices: Whole) -> float:
    """Return the mean distance from the first to the last column of the rows that have any entry; 0 without."""
    filled = np.flatnonzero(np.diff(row_starts))
    if not len(filled):
        return 0.0
    first = column_indices[row_starts[filled]].astype(np.int64)
    last = column_indices[row_starts[filled + 1] - 1].astype(np.int64)
    return float((last - first).mean())


def share_of_most_frequent(keys: Whole) -> float:
    """Return the share of the keys that are the most frequent one."""
    return float(np.bincount(keys).max()) / len(keys)


def share_in_order(values: NDArray[Any]) -> float:
    """Return the share of neighbours along the last axis that do not descend; 1 where there are none."""
    if values.shape[-1] < 2:
        return 1.0
    return float((values[..., 1:] >= values[..., :-1]).mean())


def share_repeated(values: NDArray[Any]) -> float:
    """Return the share of neighbours along the last axis that are alike; 0 where there are none."""
    if values.shape[-1] < 2:
        return 0.0
    return float((values[..., 1:] == values[..., :-1]).mean())
