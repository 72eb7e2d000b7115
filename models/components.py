"""Standardisation and principal components, fitted on the kernels that a model may learn from.

The numbers are rounded to a grid, so that the last bits of another processor's arithmetic do not show in a
model.
"""

from __future__ import annotations

import numpy as np

from .inference import Projection
from .step_inputs import Array

GRID = 2.0**-12
VARIANCE = 0.95


def fit_projection(inputs: Array, variance: float = VARIANCE) -> Projection:
    """Fit a projection on inputs of shape (n, i).

    Keeps the fewest principal components that hold `variance` of the standardised inputs' variance (PACT
    2014, section 6). An input that is the same for all kernels is left unscaled, and so contributes nothing.
    """
    mean = on_grid(inputs.mean(axis=0))
    spread = on_grid(inputs.std(axis=0))
    scale = np.where(spread > 0.0, spread, 1.0)
    standardised = (inputs - mean) / scale
    values, vectors = np.linalg.eigh(standardised.T @ standardised)
    values, vectors = values[::-1], vectors.T[::-1]
    kept = int(np.searchsorted(np.cumsum(values), variance * values.sum())) + 1
    return Projection(mean, scale, np.ascontiguousarray(on_grid(_with_fixed_signs(vectors[:kept]))))


def on_grid(values: Array) -> Array:
    """Values rounded to the grid, without negative zeros."""
    return np.round(values / GRID) * GRID + 0.0


def _with_fixed_signs(components: Array) -> Array:
    """An eigenvector's sign is arbitrary: the one with a positive weighted sum is taken.

    The weights differ from input to input, since equal and opposite entries, from inputs that are perfectly
    correlated, must not cancel.
    """
    weights = 1.0 / (1.0 + np.arange(components.shape[1]))
    signs = np.where(components @ weights < 0.0, -1.0, 1.0)
    return components * signs[:, np.newaxis]
