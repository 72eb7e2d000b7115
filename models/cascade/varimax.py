"""Varimax rotation of component loadings (H. F. Kaiser, "The varimax criterion for analytic rotation in factor
analysis", Psychometrika 23, 1958).

It turns the components until each one loads strongly on a few inputs and hardly on the others, so that it can be
named; what they explain together stays the same.
"""

from __future__ import annotations

import numpy as np

from coarsen.models.cascade.step_inputs import Array

_ITERATIONS = 1000
_TOLERANCE = 1e-12
# An input with no larger loadings than this is constant, but for rounding errors.
_NOTHING = 1e-9


def varimax_rotation(loadings: Array) -> Array:
    """Return the orthogonal matrix R, of shape (c, c), for which the loadings L R meet the varimax criterion.

    With B = L R, rows scaled to length 1 (Kaiser's normalisation), it is a maximum of

        Σ over components ( mean of b⁴ − (mean of b²)² )

    found by iteration from R = 1: the polar part of the criterion's gradient is the next R.

    Args:
        loadings: L, of shape (i, c); inputs that load on nothing do not count.
    """
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    loading = lengths[:, 0] > _NOTHING
    normal = loadings[loading] / lengths[loading]
    rotation = np.eye(loadings.shape[1])
    for _ in range(_ITERATIONS):
        rotated = normal @ rotation
        gradient = normal.T @ (rotated**3 - rotated * (rotated**2).mean(axis=0))
        left, _, right = np.linalg.svd(gradient)
        before, rotation = rotation, left @ right
        if np.abs(rotation - before).max() < _TOLERANCE:
            break
    return rotation
