"""How far predicted break-even points are from measured ones, and what that costs.

error     octaves from the predicted point to the measured bracket, 0 within it
regret    what the predicted choice loses at sizes between the two, where it is the wrong one
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.inputs.break_even import BreakEven, Measure

_POINTS = 5


@dataclass(frozen=True, slots=True)
class Matched:
    """A measured break-even point, and the predicted one of the same two versions that is nearest to it."""

    measured: BreakEven
    predicted: BreakEven

    @property
    def error(self) -> float:
        """Return the octaves from the middle of the predicted bracket to the measured one, 0 within it."""
        middle = self.predicted.middle
        return max(0.0, math.log2(self.measured.low / middle), math.log2(middle / self.measured.high))

    @property
    def sizes_between(self) -> tuple[int, ...]:
        """Return at most five sizes from the predicted point to the measured bracket; none within it."""
        if not self.error:
            return ()
        middle = self.predicted.middle
        ends = (middle, self.measured.low) if middle < self.measured.low else (self.measured.high, middle)
        return tuple(sorted({round(size) for size in np.geomspace(*ends, _POINTS).tolist()}))


@dataclass(frozen=True, slots=True)
class BreakEvenErrors:
    """How far predictions are from measurements.

    Attributes:
        matched: of the same two versions, one for each well-defined measured point that has a prediction.
        missed: how many well-defined measured points have none.
        invented: how many predicted points are of none that was measured.
        ill_defined: how many measured points have no meaning, and judge nothing.
    """

    matched: tuple[Matched, ...]
    missed: int
    invented: int
    ill_defined: int

    def quantile(self, share: float) -> float:
        """Return the error that so large a share of the matched points doesn't exceed; NaN without any."""
        errors = [pair.error for pair in self.matched]
        return float(np.quantile(errors, share)) if errors else math.nan


def compared(predicted: Sequence[BreakEven], measured: Sequence[BreakEven]) -> BreakEvenErrors:
    """Match the points of one section.

    Args:
        predicted: by a model or a tree.
        measured: on the device, of the same versions.
    """
    clear = [point for point in measured if not point.is_ill_defined]
    free = list(predicted)
    matched = []
    for point in clear:
        same = [Matched(point, each) for each in free if (each.before, each.after) == (point.before, point.after)]
        if same:
            nearest = min(same, key=lambda pair: pair.error)
            free.remove(nearest.predicted)
            matched.append(nearest)
    vague = {(point.before, point.after) for point in measured if point.is_ill_defined}
    invented = [each for each in free if (each.before, each.after) not in vague]
    return BreakEvenErrors(tuple(matched), len(clear) - len(matched), len(invented), len(measured) - len(clear))


def pooled(found: Sequence[BreakEvenErrors]) -> BreakEvenErrors:
    """Return the errors of several sections or kernels together."""
    return BreakEvenErrors(
        matched=tuple(pair for each in found for pair in each.matched),
        missed=sum(each.missed for each in found),
        invented=sum(each.invented for each in found),
        ill_defined=sum(each.ill_defined for each in found),
    )


def regret_between(matched: Matched, measure: Measure) -> float:
    """Return the mean of ln(t of the wrong version / t of the right one) from the predicted to the measured point.

    Args:
        matched: the points.
        measure: gives the seconds of each version at a size; asked at most five times, never within the bracket.
    """
    sizes = matched.sizes_between
    if not sizes:
        return 0.0
    point = matched.measured
    too_early = matched.predicted.middle < point.low
    wrong, right = (point.after, point.before) if too_early else (point.before, point.after)
    seconds = (measure(size) for size in sizes)
    return float(np.mean([math.log(each[wrong] / each[right]) for each in seconds]))
