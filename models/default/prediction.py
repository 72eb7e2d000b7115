"""What the default model says of a kernel on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.models.default.joint import AVERSION
from coarsen.models.neighbours import Neighbour


@dataclass(frozen=True, slots=True)
class FactorPrediction:
    """One factor of the curve, as natural logarithms of the speed-up over factor 1.

    `low` and `high` bound an 80 % interval, `utility` is the mean less three times the expected loss, `possible`
    says whether the factor divides the launch's local size, so far as that is known.
    """

    factor: int
    log_speedup: float
    low: float
    high: float
    utility: float
    possible: bool

    @property
    def speedup(self) -> float:
        """The predicted speed-up, the exponential of its mean logarithm."""
        return math.exp(self.log_speedup)

    @property
    def expected_gain(self) -> float:
        """E max(0, y) of the log speed-up y: what a factor is worth that is tried out, and left where it loses."""
        expected_loss = (self.log_speedup - self.utility) / AVERSION
        return self.log_speedup + expected_loss


@dataclass(frozen=True, slots=True)
class Influence:
    """How a feature moved the prediction at the explained factor.

    `value` is the feature at factor 1, `value_at_factor` at the explained factor, `effect` the predicted log
    speed-up less what it would be if the feature had its median over the training kernels at that factor.
    """

    feature: str
    value: float
    value_at_factor: float
    effect: float


@dataclass(frozen=True, repr=False)
class CurvePrediction:
    """The curve of a kernel on a device, and the factor to choose. `str` has the curve, `repr` the choice alone.

    Args:
        model: the model's name; `kernel`, `device`, `dimension` say what was predicted.
        factor: the choice; 1 where the model `abstained`, and then `reason` says why, else it is empty.
        curve: the factors 2 to 32.
        step_probability: at a factor f, the probability that 2f is faster than f.
        explained_factor: the chosen factor, or the one of the largest utility where the choice is 1.
        influences: all features, from the one that moved the prediction at that factor most.
        nearest: the nearest training kernels; the model abstains where the first is farther than `limit`.
        training_kernel: the kernel that this one is, of those that the model learned from; None if it is none.
    """

    model: str
    kernel: str
    device: str
    dimension: int
    factor: int
    abstained: bool
    reason: str
    curve: tuple[FactorPrediction, ...]
    step_probability: Mapping[int, float]
    explained_factor: int
    influences: tuple[Influence, ...]
    nearest: tuple[Neighbour, ...]
    limit: float
    training_kernel: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._choice}>"

    def __str__(self) -> str:
        lines = [self._choice, *([self.reason] if self.reason else []), "factor  speed-up  80 % interval"]
        for entry in self.curve:
            low, high = math.exp(entry.low), math.exp(entry.high)
            impossible = "" if entry.possible else "  does not divide the local size"
            lines.append(f"{entry.factor:6}  {entry.speedup:8.2f}  {low:.2f} to {high:.2f}{impossible}")
        features = ", ".join(f"{cause.feature} × {math.exp(cause.effect):.2f}" for cause in self.reasons())
        return "\n".join([*lines, f"moved most, at factor {self.explained_factor}, by: {features}"])

    @property
    def _choice(self) -> str:
        abstained = ", abstained" if self.abstained else ""
        where = f"{self.kernel} on {self.device} along dimension {self.dimension}"
        return f"{where}: factor {self.factor} by the model {self.model}{abstained}"

    def reasons(self, count: int = 3) -> tuple[Influence, ...]:
        """Return the features that moved the prediction at the explained factor most.

        Args:
            count: how many, at most.
        """
        return self.influences[:count]
