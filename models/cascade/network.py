"""The cascade's networks, in NumPy, and a step's answer.

Notation: c components, h hidden units.

    a = tanh(W s + b)                              (h,)
    probability = 1 / (1 + exp(−(w · a + b₀)))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coarsen.models.cascade.step_inputs import Array


@dataclass(frozen=True)
class Network:
    """One hidden layer of tanh units and a logistic output.

    `hidden_weights` (h, c), `hidden_biases` (h,), `output_weights` (h,), `output_bias`.
    """

    hidden_weights: Array
    hidden_biases: Array
    output_weights: Array
    output_bias: float

    def probability(self, scores: Array) -> Array:
        """Return the probabilities (…) that coarsening further helps, for scores (…, c)."""
        hidden = np.tanh(scores @ self.hidden_weights.T + self.hidden_biases)
        logits = hidden @ self.output_weights + self.output_bias
        return np.exp(-np.logaddexp(0.0, -logits))


@dataclass(frozen=True)
class StepModel:
    """The answer to "coarsen further?" at one factor.

    The `network` may be that of all factors: `examples` and `further` count the samples of all of them then.
    `examples` training kernels say something about this factor, `further` of them are better at the next one.
    Where these are too few, or all of one kind, there is no `network`: the answer is then the same for all
    kernels, with the probability (further + 1) / (examples + 2) (Laplace's rule of succession).
    """

    factor: int
    examples: int
    further: int
    network: Network | None = None

    @property
    def is_constant(self) -> bool:
        """Return True if the answer is the same for all kernels."""
        return self.network is None

    def probability(self, scores: Array) -> float:
        """Return the probability that the next factor is better, for a kernel's scores (c,)."""
        if self.network is None:
            return (self.further + 1) / (self.examples + 2)
        return float(self.network.probability(scores))
