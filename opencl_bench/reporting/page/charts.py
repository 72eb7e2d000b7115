"""The curves of a kernel: of all that was tried, and of its own launch with nothing but the factor changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pandas as pd

from coarsen.opencl_bench.reporting.curve_points import curve_points
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, FAILED, MEASURED, Chart, Curve, Point
from coarsen.opencl_bench.results.measured_curves import OwnLaunch, OwnRows, own_rows
from coarsen.opencl_bench.results.rows import best_table, frame_with_intervals, labelled
from coarsen.tuning.engine.choice import ITSELF
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.workload.benchmark import Benchmark, Definitions
from coarsen.variant.variant import shape


def overall_chart(kernel: str, sweeps: Mapping[str, Sweep]) -> Chart | None:
    """The best configuration of each factor, over the best uncoarsened one; None where nothing was compared.

    Args:
        kernel: its name; `sweeps` are the places' by their slugs.
    """
    curves = [
        Curve(place, tuple(_point(row) for row in rows.itertuples()))
        for place, sweep in sweeps.items()
        if len(rows := sweep.points[sweep.points["benchmark"] == kernel])
    ]
    if not any(point.speedup for curve in curves for point in curve.points):
        return None
    note = "At each factor the best of all dimensions, strides, local sizes, over the best uncoarsened local size."
    return Chart("overall", "Everything tried", note, tuple(curves))


def own_charts(curves: Mapping[str, Collection[OwnCurve]]) -> tuple[Chart, ...]:
    """A chart for each dimension.

    Args:
        curves: of a kernel, by the slug of the place.
    """
    known = [(curve.dimension, place, curve) for place, own in curves.items() for curve in own]
    ordered = sorted(known, key=lambda entry: entry[0])
    return tuple(
        _own_chart(dimension, [(place, curve) for _, place, curve in group])
        for dimension, group in groupby(ordered, key=lambda entry: entry[0])
    )


def _own_chart(dimension: int, curves: Sequence[tuple[str, OwnCurve]]) -> Chart:
    sizes = dict.fromkeys((shape(curve.launch.local_size), curve.launch.is_own) for _, curve in curves)
    launches = " or ".join(f"{size}{'' if own else ' (the baseline’s)'}" for size, own in sizes)
    note = f"Local size {launches} kept, stride 1, over the same launch uncoarsened: what a user gets who changes "
    drawn = [Curve(place, _marked(curve)) for place, curve in curves]
    title = f"Only the factor, along dimension {dimension}"
    return Chart(f"dimension-{dimension}", title, f"{note}nothing else.", tuple(drawn))


def _marked(curve: OwnCurve) -> tuple[Point, ...]:
    best = curve.best.factor
    return tuple(replace(point, is_best=point.factor == best) for point in curve.points)


def _point(row: Any) -> Point:  # noqa: ANN401 (a row of a frame has no type)
    if not math.isnan(row.speedup):
        gain = Speedup(float(row.speedup), float(row.low), float(row.high))
        return Point(
            int(row.factor),
            MEASURED,
            gain,
            row.configuration,
            is_best=bool(row.best),
            is_unsure=bool(row.unsure),
        )
    if row.failed:
        return Point(int(row.factor), FAILED, reason=f"{_configurations(row.failed)} tried, none with a time")
    return Point(int(row.factor), EXCLUDED, reason=f"{_configurations(row.excluded)} broke a constraint")


def _configurations(count: int) -> str:
    return "1 configuration" if count == 1 else f"{count} configurations"


def factors_of(curves: Iterable[Curve]) -> tuple[int, ...]:
    """The factors of the curves that were tried, in rising order."""
    tried = {point.factor for curve in curves for point in curve.points if point.state != EXCLUDED}
    return tuple(sorted(tried))


# The measurements in the groups that the page shows: presets, which don't compare, and the places in each.
#
# results ─▶ one PresetRows for each preset ─▶ one Sweep for each device, driver and form of code in it


@dataclass(frozen=True)
class Sweep:
    """The measurements of one place, by kernel; `best` and `points` are the rows of the tables of these names.

    `best` is from `best_table`, `points` are from `curve_points`.
    """

    label: str
    preset: str
    kernels: Mapping[str, tuple[Measurement, ...]]
    best: pd.DataFrame
    points: pd.DataFrame

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return all of the measurements."""
        return tuple(row for rows in self.kernels.values() for row in rows)


def sweeps_of(measurements: Iterable[Measurement]) -> tuple[Sweep, ...]:
    """The sweeps, in the order of labels and presets.

    Args:
        measurements: of any devices and presets, at least one.
    """
    rows = list(measurements)
    presets = dict.fromkeys(row.subject.preset for row in rows)
    found = [
        sweep for preset in presets for sweep in _at_preset([row for row in rows if row.subject.preset == preset])
    ]
    return tuple(sorted(found, key=lambda sweep: (sweep.label.casefold(), sweep.preset)))


def _at_preset(measurements: list[Measurement]) -> list[Sweep]:
    compared = any(row.role is Role.COMPARISON for row in measurements)
    frame = frame_with_intervals(measurements, lambda rows: _shown_keys(rows, compared))
    best = best_table(frame)
    points = curve_points(frame) if compared else pd.DataFrame(columns=["label", "benchmark"])
    kernels: dict[str, dict[str, list[Measurement]]] = {}
    for row, label in zip(measurements, labelled(frame)["label"], strict=True):
        kernels.setdefault(label, {}).setdefault(row.subject.benchmark, []).append(row)
    return [
        Sweep(
            label,
            measurements[0].subject.preset,
            {name: tuple(rows) for name, rows in own.items()},
            best[best["label"] == label],
            points[points["label"] == label],
        )
        for label, own in kernels.items()
    ]


def _shown_keys(rows: pd.DataFrame, compared: bool) -> set[str]:
    """The rows that are shown with an interval: it takes milliseconds to compute one."""
    return {*best_table(rows)["key"], *(curve_points(rows)["key"] if compared else ())}


# The curves of a kernel's own launch as the page shows them: points with a speed-up, or why there is none.


@dataclass(frozen=True, slots=True)
class OwnCurve:
    """The points of a kernel's own launch along a dimension, factor 1 first; `definitions` are the `-D` values."""

    launch: OwnLaunch
    definitions: Definitions
    dimension: int
    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The fastest; factor 1, whose speed-up is 1, is one of them."""
        return max(self.points, key=lambda point: point.speedup.ratio if point.speedup else 0.0)


def own_curves(benchmark: Benchmark | None, measurements: Iterable[Measurement]) -> tuple[OwnCurve, ...]:
    """Return the curves of a kernel at a place, one along each dimension of which a factor could run.

    Args:
        benchmark: the kernel, None where it is not known.
        measurements: of this kernel there, of any role.
    """
    curves = (_own_curve(own) for own in own_rows(benchmark, measurements))
    return tuple(curve for curve in curves if any(point.state != EXCLUDED for point in curve.points[1:]))


def _own_curve(own: OwnRows) -> OwnCurve:
    uncoarsened = Point(1, MEASURED, ITSELF, str(own.origin.candidate))
    points = (uncoarsened, *(_own_point(row, own) for row in own.rows))
    return OwnCurve(own.launch, own.definitions, own.dimension, points)


def _own_point(row: Measurement, own: OwnRows) -> Point:
    factor, text = row.candidate.factor, str(row.candidate)
    if row.invalidity is Invalidity.CONSTRAINTS:
        return Point(factor, EXCLUDED, None, text, row.reason)
    gain = own.speedup(row)
    return Point(factor, MEASURED, gain, text) if gain else Point(factor, FAILED, None, text, row.reason)


# Positions of the points of a chart: numbers for the template's SVG.
#
# Horizontally in per cent of the width that the reader's window leaves, vertically in pixels: text keeps its size
# on a phone, and nothing has to be computed in the browser.

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
