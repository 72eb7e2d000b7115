"""One step of the cascade, in NumPy: standardise, project on the principal components, ask a small network.

Notation: i inputs (34), c components, h hidden units.

    z = (x − mean) / scale          (i,)
    p = components · z              (c,)
    a = tanh(W p + b)               (h,)
    probability = 1 / (1 + exp(−(w · a + b₀)))
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .step_inputs import Array


@dataclass(frozen=True)
class Projection:
    """Standardisation and principal components: `mean` (i,), `scale` (i,), `components` (c, i)."""

    mean: Array
    scale: Array
    components: Array

    def standardise(self, inputs: Array) -> Array:
        """Inputs of shape (…, i) in standard deviations from the training mean."""
        return (inputs - self.mean) / self.scale

    def project(self, standardised: Array) -> Array:
        """Standardised inputs (…, i) on the components (…, c)."""
        return standardised @ self.components.T


@dataclass(frozen=True)
class Network:
    """One hidden layer of tanh units and a logistic output.

    `hidden_weights` (h, c), `hidden_biases` (h,), `output_weights` (h,), `output_bias`.
    """

    hidden_weights: Array
    hidden_biases: Array
    output_weights: Array
    output_bias: float

    def probability(self, projected: Array) -> float:
        """The probability that coarsening further helps, for one kernel's components (c,)."""
        hidden = np.tanh(self.hidden_weights @ projected + self.hidden_biases)
        return _logistic(float(self.output_weights @ hidden) + self.output_bias)


@dataclass(frozen=True)
class StepModel:
    """The answer to "coarsen further?" at one factor.

    `examples` training kernels got as far as this factor, `further` of them were better beyond it. Where
    these are too few, or all of one kind, there is no `projection` and no `network`: the answer is then the
    same for all kernels, with the probability (further + 1) / (examples + 2) (Laplace's rule of succession).
    """

    factor: int
    examples: int
    further: int
    projection: Projection | None = None
    network: Network | None = None

    @property
    def is_constant(self) -> bool:
        """Whether the answer is the same for all kernels."""
        return self.network is None

    def probability(self, inputs: Array) -> float:
        """The probability that the next factor is better, for inputs of shape (i,)."""
        if self.projection is None:
            return self._constant()
        return self._of_standardised(self.projection.standardise(inputs))

    def without(self, inputs: Array, left_out: tuple[int, ...]) -> float:
        """The probability if some inputs had their mean over the training kernels."""
        if self.projection is None:
            return self._constant()
        standardised = self.projection.standardise(inputs)
        standardised[list(left_out)] = 0.0
        return self._of_standardised(standardised)

    def _of_standardised(self, standardised: Array) -> float:
        if self.projection is None or self.network is None:
            return self._constant()
        return self.network.probability(self.projection.project(standardised))

    def _constant(self) -> float:
        return (self.further + 1) / (self.examples + 2)


def _logistic(logit: float) -> float:
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))
