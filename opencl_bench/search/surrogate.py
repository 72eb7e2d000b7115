"""Interface of the models that stand for measuring: log times of choices, learned from those that were tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.prior import Prior
from coarsen.opencl_bench.search.spaces import Choice

NEEDED = "a guided search needs scikit-learn: pip install 'coarsen[tune]'"
# What was expected hardly differs: nothing measured tells against it.
_NO_SPREAD = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Predicted:
    """Log times that a model predicts, one for each choice.

    Attributes:
        mean: the expectation.
        deviation: the standard deviation, as far as the model is unsure; 0 or above.
    """

    mean: Floats
    deviation: Floats

    def plus(self, expected: Floats) -> Predicted:
        """Return the same with something added to the expectation."""
        return Predicted(self.mean + expected, self.deviation)


class Fitted(Protocol):
    """A model that was fitted."""

    def predict(self, choices: Sequence[Choice]) -> Predicted:
        """Return the log times of choices."""
        ...


class Surrogate(Protocol):
    """A model of log times."""

    def fit(self, trials: Sequence[Trial], seed: int) -> Fitted:
        """Fit everything tried, of which at least one has a time."""
        ...


def log_times(trials: Sequence[Trial]) -> Floats:
    """Return the logarithms of times. What failed or was killed counts as slow as the slowest that ran.

    Args:
        trials: at least one with a time.
    """
    slowest = max(trial.time for trial in trials if trial.time is not None)
    return np.array([math.log(slowest if trial.time is None else trial.time) for trial in trials])


def expected_log_times(prior: Prior | None, choices: Sequence[Choice]) -> Floats:
    """Return what a prior expects, 0 without one."""
    if prior is None:
        return np.zeros(len(choices))
    return np.array([prior(choice) for choice in choices], dtype=np.float64)


def weight_of(expected: Floats, measured: Floats) -> float:
    """Return how far what was expected is to be believed, from 0 to 1: the slope of what was measured over it.

    Args:
        expected: log times.
        measured: log times of the same choices.
    """
    deviation = expected - expected.mean()
    spread = float(deviation @ deviation)
    return 1.0 if spread <= _NO_SPREAD else float(np.clip(deviation @ (measured - measured.mean()) / spread, 0, 1))
