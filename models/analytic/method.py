"""The analytic models as the evaluation takes them: they learn nothing, and choose the factor of the least time.

The kernel's work at each factor is counted from the plan of the transforms (`Example.work`): nothing is compiled.
The time of the uncoarsened launch over that of the coarsened one is the predicted speed-up. Nothing is corrected
by what was measured of kernels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.models.analytic.cpu import cpu
from coarsen.models.analytic.estimate import Model
from coarsen.models.analytic.gpu import gpu
from coarsen.models.analytic.profiles import shipped_profile
from coarsen.models.evaluation.method import Choice
from coarsen.models.examples import Example


@dataclass(frozen=True)
class AnalyticPredictor:
    """Chooses by the model of the device's kind: sectors, caches and waves for GPUs, or that of CPUs."""

    def choose(self, example: Example) -> Choice:
        """Return the factor of the largest predicted speed-up, the smaller of equals.

        Abstains without a profile.
        """
        predicted = self.log_speedups(example)
        if not predicted:
            return Choice(1, abstained=True)
        return Choice(min(predicted, key=lambda factor: (-predicted[factor], factor)))

    def log_speedups(self, example: Example) -> Mapping[int, float]:
        """Return the natural logarithm of the predicted speed-up at each factor; empty where nothing can be said.

        Raises:
            InvalidInputError: the device's profile is damaged, or lacks what the model needs.
        """
        machine = shipped_profile(example.device)
        if machine is None or 1 not in example.work:
            return {}
        model: Model = gpu if machine.is_gpu else cpu
        seconds = {factor: model(*each, machine).seconds for factor, each in example.work.items()}
        return {factor: math.log(seconds[1] / each) for factor, each in seconds.items()}


@dataclass(frozen=True)
class Analytic:
    """An analytic model that needs no training."""

    name: str
    predictor: AnalyticPredictor

    def fit(self, training: Sequence[Example], seed: int) -> AnalyticPredictor:
        """Learn nothing."""
        return self.predictor


def analytic() -> Analytic:
    """Return the models as a method of the evaluation."""
    return Analytic("analytic", AnalyticPredictor())
