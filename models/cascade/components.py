"""Standardisation, principal components and varimax rotation of the cascade's inputs.

Notation: n samples, i inputs, c components kept, R the varimax rotation (c, c).

    Z = (X − mean) / scale                   (n, i)
    Zᵀ Z / n = V Λ Vᵀ                        the correlations of the inputs; the first c eigenvectors are kept
    A = V Λ^½ R                              (i, c)   rotated loadings: correlations of inputs with components
    W = A (Aᵀ A)⁻¹ = V Λ^−½ R                (i, c)   weights
    S = Z W                                  (n, c)   scores, uncorrelated, each of variance 1
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from coarsen.models.cascade.model import Array, Projection

VARIANCE = 0.95


def fit_projection(samples: Array) -> Projection:
    """Return the rotated principal components (PACT 2014, section 6): the fewest that hold enough of the variance.

    Components stand in falling order of the variance that they hold after rotation; the sign is the one that makes
    the largest loadings positive. An input that is the same in all samples contributes nothing.

    Args:
        samples: (n, i), at least two.

    Raises:
        ValueError: all samples are alike.
    """
    scaler = StandardScaler().fit(samples)
    scale = significant(scaler.scale_)
    mean = on_grid(scaler.mean_ / scale) * scale
    standardised = (samples - mean) / scale
    total = float(standardised.var(axis=0).sum())
    if total == 0.0:
        raise ValueError("all samples are alike: there are no components to find")
    kept = PCA(n_components=VARIANCE, svd_solver="full").fit(standardised)
    # scikit-learn divides by n − 1, standardisation by n.
    spread = np.sqrt(kept.explained_variance_ * (1 - 1 / len(standardised)))
    unrotated: Array = kept.components_.T * spread
    # In the order that a file keeps them in: products of other orders differ in their last bits.
    loadings = np.ascontiguousarray(on_grid(_ordered(unrotated @ varimax_rotation(unrotated))))
    weights = np.asarray(np.linalg.solve(loadings.T @ loadings, loadings.T).T, dtype=np.float64)
    shares: Array = (loadings**2).sum(axis=0) / total
    return Projection(mean, scale, loadings, np.ascontiguousarray(on_grid(weights)), on_grid(shares))


def _ordered(loadings: Array) -> Array:
    """The components in falling order of what they hold, with fixed signs.

    The sign is that of a sum of cubes, in which the largest loadings decide. Its weights differ from input to
    input, since equal and opposite loadings, of inputs that are perfectly correlated, must not cancel.
    """
    order = np.argsort(-on_grid((loadings**2).sum(axis=0)), kind="stable")
    weights = 1.0 / (20.0 + np.arange(len(loadings)))
    signs = np.where(weights @ loadings[:, order] ** 3 < 0.0, -1.0, 1.0)
    return loadings[:, order] * signs


# Numbers rounded to a grid, so that the last bits of another processor's arithmetic do not show in a model.

GRID = 2.0**-12
_SIGNIFICANT_BITS = 24


def on_grid(values: Array) -> Array:
    """Return values rounded to multiples of 2⁻¹², without negative zeros; for values around 1."""
    return np.round(values / GRID) * GRID + 0.0


def significant(values: Array) -> Array:
    """Return values rounded to 24 significant bits; for values of any size."""
    mantissas, exponents = np.frexp(values)
    rounded: Array = np.ldexp(np.round(np.ldexp(mantissas, _SIGNIFICANT_BITS)), exponents - _SIGNIFICANT_BITS)
    return rounded


# Varimax rotation of component loadings (H. F. Kaiser, "The varimax criterion for analytic rotation in factor
# analysis", Psychometrika 23, 1958).
#
# It turns the components until each one loads strongly on a few inputs and hardly on the others, so that it can be
# named; what they explain together stays the same.

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
