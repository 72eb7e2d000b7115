"""Standardisation and rotated principal components, in NumPy: what prediction needs of them.

Notation: i inputs (34), c components.

    z = (x − mean) / scale     (i,)
    s = z · weights            (c,)   the scores, uncorrelated and of variance 1 over the training kernels
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.models.cascade.step_inputs import Array


@dataclass(frozen=True)
class Projection:
    """What inputs are projected with.

    `mean` (i,) and `scale` (i,) standardise; `loadings` (i, c) are the correlations of inputs with components;
    `weights` (i, c) give the scores; `shares` (c,) is the part of all variance that each component holds.
    """

    mean: Array
    scale: Array
    loadings: Array
    weights: Array
    shares: Array

    def standardise(self, inputs: Array) -> Array:
        """Inputs of shape (…, i) in standard deviations from the training mean."""
        return (inputs - self.mean) / self.scale

    def scores(self, standardised: Array) -> Array:
        """Return the components (…, c) of standardised inputs (…, i)."""
        return standardised @ self.weights
