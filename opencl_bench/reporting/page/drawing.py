"""Positions of the points of a chart: numbers for the template's SVG.

Horizontally in per cent of the width that the reader's window leaves, vertically in pixels: text keeps its size on
a phone, and nothing has to be computed in the browser.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.opencl_bench.reporting.page.charts import factors_of
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, Chart, Point

HEIGHT = 220
# Pixels between the curves' points at the same factor, so that intervals do not hide each other.
_APART = 8
# A curve that hardly moves should look so.
_LEAST_RANGE = (0.8, 1.25)
_MARGIN = 1.12
_FINE = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 2.0)
_MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Tick:
    """A value on the vertical axis, and where it is in pixels from the top."""

    text: str
    y: float
    is_one: bool


@dataclass(frozen=True, slots=True)
class Spot:
    """A point: where it is and where its interval ends; a point without a speed-up is at the bottom."""

    point: Point
    x: float
    y: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Segment:
    """From one point to the next."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """A curve: `shift` in pixels to the right."""

    place: str
    shift: float
    spots: tuple[Spot, ...]
    lines: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart: `columns` has the factors and where they are in per cent of the width."""

    chart: Chart
    height: int
    columns: tuple[tuple[int, float], ...]
    ticks: tuple[Tick, ...]
    curves: tuple[DrawnCurve, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """The vertical axis: speed-ups from `low` at the bottom to `high` at the top, logarithmic."""

    low: float
    high: float

    def y(self, ratio: float) -> float:
        span = math.log(self.high / self.low)
        return round(HEIGHT * math.log(self.high / max(ratio, self.low)) / span, 1)


def drawn(charts: Iterable[Chart]) -> tuple[DrawnChart, ...]:
    """The charts of a kernel, all with the same vertical axis."""
    found = tuple(charts)
    axis = _axis(point for chart in found for curve in chart.curves for point in curve.points)
    return tuple(_drawn(chart, axis) for chart in found)


def _axis(points: Iterable[Point]) -> _Axis:
    gains = [point.speedup for point in points if point.speedup]
    low = min((*(gain.low for gain in gains), _LEAST_RANGE[0]))
    high = max((*(gain.high for gain in gains), _LEAST_RANGE[1]))
    return _Axis(low / _MARGIN, high * _MARGIN)


def _drawn(chart: Chart, axis: _Axis) -> DrawnChart:
    factors = factors_of(chart.curves)
    columns = {factor: round(100 * (index + 0.5) / len(factors), 2) for index, factor in enumerate(factors)}
    middle = (len(chart.curves) - 1) / 2
    curves = []
    for index, curve in enumerate(chart.curves):
        spots = {
            point.factor: _spot(point, columns[point.factor], axis)
            for point in curve.points
            if point.state != EXCLUDED and point.factor in columns
        }
        shift = (index - middle) * _APART
        lines = tuple(_lines(factors, spots))
        curves.append(DrawnCurve(curve.place, shift, tuple(spots.values()), lines))
    return DrawnChart(chart, HEIGHT, tuple(columns.items()), tuple(_ticks(axis)), tuple(curves))


def _spot(point: Point, x: float, axis: _Axis) -> Spot:
    if point.speedup is None:
        return Spot(point, x, HEIGHT - 8, HEIGHT - 8, HEIGHT - 8)
    gain = point.speedup
    return Spot(point, x, axis.y(gain.ratio), axis.y(gain.high), axis.y(gain.low))


def _lines(factors: Iterable[int], spots: Mapping[int, Spot]) -> Iterator[Segment]:
    """Yield the segments between neighbouring factors that both have a speed-up: a gap stays a gap."""
    last: Spot | None = None
    for factor in factors:
        spot = spots.get(factor)
        here = spot if spot is not None and spot.point.speedup is not None else None
        if last is not None and here is not None:
            yield Segment(last.x, last.y, here.x, here.y)
        last = here


def _ticks(axis: _Axis) -> Iterator[Tick]:
    for value in _tick_values(axis):
        yield Tick(f"{value:g}", axis.y(value), value == 1)


def _tick_values(axis: _Axis) -> list[float]:
    """Return a few round values, 1 always among them."""
    powers = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    decades = [10.0**power for power in powers]
    thousands = [10.0**power for power in powers if power % 3 == 0]
    candidates = (_FINE, [digit * ten for ten in decades for digit in (1, 2, 5)], decades, thousands)
    for values in candidates:
        inside = sorted({1.0, *(round(value, 9) for value in values if axis.low <= value <= axis.high)})
        covers = axis.high / axis.low < 4 if values is _FINE else True
        if covers and len(inside) <= _MOST_TICKS:
            return inside
    return [1.0]
