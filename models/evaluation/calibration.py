"""Whether probabilities mean what they say: of the steps called 80 % likely to help, how many did?

Each forecast is of one step f ─▶ 2f of a held-out kernel on a device; it came true where 2f is faster than f. A
step counts once, however many seeds there are: each seed's forecast has its share of the weight. Steps of which
a factor was not measured, or neither has a duration, are left out.

Brier score: the mean of (p − outcome)² (Brier 1950); expected calibration error: the mean over bins, by their
weight, of |mean p − share that helped|. Intervals: Wilson's (1927); they take steps for independent, which those
of one kernel are not, so they are somewhat too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP, Interval, Outcome

if TYPE_CHECKING:
    from coarsen.models.evaluation.evaluation import Evaluation

BINS = 10
# The quantile of the normal distribution for an interval of 95 %.
_DEVIATIONS = 1.959964


@dataclass(frozen=True)
class Forecast:
    """A probability that a step helps, whether it did, and how much the forecast counts."""

    probability: float
    helped: bool
    weight: float


@dataclass(frozen=True)
class Bin:
    """The forecasts between two probabilities: how many steps, their mean probability, the share that helped."""

    low: float
    high: float
    steps: float
    mean_probability: float
    helped: float
    interval: Interval


@dataclass(frozen=True)
class Calibration:
    """How far probabilities can be taken at their word.

    Args:
        bins: those of ten equal ones, from 0 to 1, that have forecasts.
        steps: how many forecasts there are, where those of several seeds count as one.
        expected_calibration_error: mean distance between probability and share that helped, weighted by steps.
        brier: mean squared difference between the probability and what happened, 1 or 0 (Brier 1950).
    """

    bins: tuple[Bin, ...]
    steps: float
    expected_calibration_error: float
    brier: float


def calibrations(evaluation: Evaluation) -> Mapping[str, Calibration]:
    """Return how well the methods' probabilities that a step helps are calibrated.

    Args:
        evaluation: of any methods; devices of which the best factors alone are known do not count.

    Returns:
        By method, of those methods that give probabilities.
    """
    devices = [device for device in evaluation.devices if evaluation.is_measured(device)]
    made = {name: calibration(forecasts(outcomes)) for name, outcomes in evaluation.on(*devices).items()}
    return {name: each for name, each in made.items() if each is not None}


def forecasts(outcomes: Iterable[Outcome]) -> list[Forecast]:
    """Return the forecasts among a method's outcomes."""
    found = list(outcomes)
    weight = 1 / max(1, len({outcome.seed for outcome in found}))
    return [
        Forecast(probability, helped, weight)
        for outcome in found
        for factor, probability in outcome.choice.step_probability.items()
        if (helped := _helped(outcome, factor)) is not None
    ]


def calibration(forecasts: Sequence[Forecast], bins: int = BINS) -> Calibration | None:
    """Return the reliability of forecasts in bins of equal width; None where there are none."""
    if not forecasts:
        return None
    index = [min(int(forecast.probability * bins), bins - 1) for forecast in forecasts]
    groups = [[f for f, place in zip(forecasts, index, strict=True) if place == each] for each in range(bins)]
    found = tuple(_bin(each / bins, (each + 1) / bins, group) for each, group in enumerate(groups) if group)
    steps = sum(each.steps for each in found)
    return Calibration(
        found,
        steps,
        sum(each.steps * abs(each.mean_probability - each.helped) for each in found) / steps,
        sum(f.weight * (f.probability - f.helped) ** 2 for f in forecasts) / steps,
    )


def wilson_interval(share: float, count: float) -> Interval:
    """Wilson's interval of 95 % of a share among so many."""
    square = _DEVIATIONS**2 / count
    middle = (share + square / 2) / (1 + square)
    half = _DEVIATIONS * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def _helped(outcome: Outcome, factor: int) -> bool | None:
    speedup = {1: 1.0, **outcome.example.speedup}
    before, after = speedup.get(factor), speedup.get(2 * factor)
    if not outcome.is_measured or before is None or after is None or before == after == GIVEN_UP_SPEEDUP:
        return None
    return after > before


def _bin(low: float, high: float, group: Sequence[Forecast]) -> Bin:
    weights = np.array([forecast.weight for forecast in group])
    steps = float(weights.sum())
    helped = float(np.average([forecast.helped for forecast in group], weights=weights))
    mean = float(np.average([forecast.probability for forecast in group], weights=weights))
    return Bin(low, high, steps, mean, helped, wilson_interval(helped, steps))
