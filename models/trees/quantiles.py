"""Quantiles of a weighted sample."""

from __future__ import annotations

import numpy as np

from coarsen.models.trees.arrays import Array


def weighted_quantiles(values: Array, weights: Array, levels: Array) -> Array:
    """Return the quantiles at some levels: linear between the values, each at the middle of its weight."""
    order = np.argsort(values, kind="stable")
    ordered = weights[order]
    middles = (np.cumsum(ordered) - 0.5 * ordered) / ordered.sum()
    return np.interp(levels, middles, values[order])
