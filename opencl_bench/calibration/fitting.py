"""Numbers from times: medians with their spread, curves that only fall or rise, levels, slopes.

All of it bears with outliers. Other work on the machine only ever lengthens a run, so that a time is the median
of the faster half of its runs; neighbours are pooled where a curve goes the wrong way; slopes are between all
pairs of points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from coarsen.models.analytic.machine import Curve, MemoryLevel, Point, Quantity, interpolated

# A level more must explain as much of the curve, in the logarithm, as this.
_PRICE_OF_A_LEVEL = 0.35
_MOST_LEVELS = 4


def quantity_of(values: Sequence[float]) -> Quantity:
    """Return the median of some measured values, and half the distance of their quartiles over it."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return Quantity(float(middle), float((high - low) / (2 * abs(middle))) if middle else None)


def seconds_of(times: Sequence[float]) -> Quantity:
    """Return the median of the faster half of some runs, and half the distance of the quartiles over it."""
    low, high = np.percentile(times, [25, 75])
    return Quantity(float(low), float((high - low) / (2 * low)))


def curve_of(quantities: Mapping[int, Quantity]) -> Curve:
    """Return the curve through measured quantities, by where they were measured."""
    return tuple(Point(float(at), each.value, each.spread) for at, each in sorted(quantities.items()))


def falling(curve: Curve) -> Curve:
    """Return the nearest curve that never rises."""
    return _with_values(curve, [-value for value in _isotonic([-math.log(point.value) for point in curve])])


def rising(curve: Curve) -> Curve:
    """Return the nearest curve that never falls."""
    return _with_values(curve, _isotonic([math.log(point.value) for point in curve]))


def at_least(curve: Curve, other: Curve) -> Curve:
    """Return the larger of two curves that have the same places, point by point."""
    return tuple(max(pair, key=lambda point: point.value) for pair in zip(curve, other, strict=True))


def relative(curve: Curve) -> Curve:
    """Return the curve over its first value."""
    return tuple(Point(point.at, point.value / curve[0].value, point.spread) for point in curve)


def _with_values(curve: Curve, logarithms: Sequence[float]) -> Curve:
    return tuple(
        Point(point.at, math.exp(value), point.spread) for point, value in zip(curve, logarithms, strict=True)
    )


def _isotonic(values: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls: neighbours that do are pooled into their mean."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (left, left_count), (right, right_count) = pools[-2:]
            count = left_count + right_count
            pools[-2:] = [((left * left_count + right * right_count) / count, count)]
    return [value for value, count in pools for _ in range(count)]


def levels_of(bandwidth: Curve, latency: Curve) -> tuple[MemoryLevel, ...]:
    """Return the levels of a memory: the runs of a falling curve of bandwidths within which it is nearly flat.

    Args:
        bandwidth: by footprint in bytes.
        latency: by footprint; a level's is its median over the level's footprints.

    Returns:
        From the nearest level on; the last one holds any footprint.
    """
    starts = _run_starts([math.log(point.value) for point in bandwidth])
    runs = [bandwidth[start:end] for start, end in itertools.pairwise((*starts, len(bandwidth)))]
    return tuple(
        MemoryLevel(
            bytes=None if run is runs[-1] else run[-1].at,
            bandwidth=median(point.value for point in run),
            latency=_latency_over(run, latency),
        )
        for run in runs
    )


def _latency_over(run: Curve, latency: Curve) -> float | None:
    found = [interpolated(latency, point.at) for point in run]
    known = [value for value in found if value is not None]
    return median(known) if known else None


def _run_starts(values: Sequence[float]) -> tuple[int, ...]:
    """The starts of the runs of which constants explain a sequence best, each of them at a price."""
    candidates = (
        (0, *inner)
        for count in range(min(_MOST_LEVELS, len(values)))
        for inner in itertools.combinations(range(1, len(values)), count)
    )
    return min(candidates, key=lambda starts: _cost(values, starts), default=())


def _cost(values: Sequence[float], starts: Sequence[int]) -> float:
    runs = [values[start:end] for start, end in itertools.pairwise((*starts, len(values)))]
    misfit = sum(abs(value - median(run)) for run in runs for value in run)
    return misfit + _PRICE_OF_A_LEVEL * len(runs)


def slope(points: Sequence[tuple[float, float]]) -> Quantity | None:
    """Return the median slope between all pairs of points (Theil and Sen), None where it isn't above 0.

    Args:
        points: places and values; several of one place are no pair.
    """
    slopes = [
        (right[1] - left[1]) / (right[0] - left[0])
        for left, right in itertools.combinations(points, 2)
        if left[0] != right[0]
    ]
    return _above_nothing(slopes)


def intercept(points: Sequence[tuple[float, float]], steepness: float) -> Quantity | None:
    """Return the median of the values less what a slope makes of their places, None where it isn't above 0."""
    return _above_nothing([value - steepness * place for place, value in points])


def _above_nothing(values: Sequence[float]) -> Quantity | None:
    found = quantity_of(values) if values else Quantity(0.0)
    return found if found.value > 0 else None
