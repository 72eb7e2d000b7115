"""The curves of a kernel: of all that was tried, and of its own launch with nothing but the factor changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.reporting.page.content import (
    EXCLUDED,
    FAILED,
    MEASURED,
    Chart,
    Curve,
    Point,
)
from coarsen.opencl_bench.reporting.page.own_launch import OwnCurve
from coarsen.opencl_bench.reporting.page.sweeps import Sweep
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
