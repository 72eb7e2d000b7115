"""Predicted times corrected by a few measured ones: the inputs that are measured are the anchors.

A model that knows how the work grows with the input mostly errs by a factor that is the version's own, and another
one where other work bounds it. So each version has a factor for each bound (compute, memory, …): the geometric
mean of measured over predicted times at the anchors of that bound, of all anchors where none has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coarsen.models.trees.arrays import Array

ANCHORS = 3


def anchor_rows(sizes: Sequence[float], count: int = ANCHORS) -> tuple[int, ...]:
    """Return the numbers of the inputs to measure: evenly from the smallest to the largest, each once.

    Args:
        sizes: what the inputs are ordered by.
        count: how many, at least 1.
    """
    order = np.argsort(np.asarray(sizes), kind="stable")
    places = np.linspace(0, len(order) - 1, min(count, len(order)))
    return tuple(dict.fromkeys(int(order[round(place)]) for place in places.tolist()))


def anchored(predicted: Array, bounds: Sequence[Sequence[str]], seconds: Array, anchors: Sequence[int]) -> Array:
    """Return predicted times that agree with the measured ones at the anchors, on the whole.

    Args:
        predicted: seconds of each input and version, (n, m); NaN where nothing is predicted.
        bounds: what bounds each of them, (n, m).
        seconds: measured, (n, m); looked at in the rows of the anchors alone.
        anchors: the numbers of the inputs that are measured.
    """
    found = np.array(predicted, dtype=np.float64)
    rows = list(anchors)
    errors = np.log(np.asarray(seconds)[rows] / predicted[rows])
    kinds = np.array([list(row) for row in bounds])
    for version in range(predicted.shape[1]):
        known = np.isfinite(errors[:, version])
        if not known.any():
            found[:, version] = np.nan
            continue
        for kind in set(kinds[:, version].tolist()):
            alike = known & (kinds[rows, version] == kind)
            factor = float(np.exp(errors[alike if alike.any() else known, version].mean()))
            found[kinds[:, version] == kind, version] *= factor
    return found
