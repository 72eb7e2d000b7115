"""The curves of a kernel's own launch as the page shows them: points with a speed-up, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, FAILED, MEASURED, Point
from coarsen.opencl_bench.results.compared import ITSELF
from coarsen.opencl_bench.results.own_launch import OwnLaunch, OwnRows, own_rows
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions


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
    curves = (_curve(own) for own in own_rows(benchmark, measurements))
    return tuple(curve for curve in curves if any(point.state != EXCLUDED for point in curve.points[1:]))


def _curve(own: OwnRows) -> OwnCurve:
    uncoarsened = Point(1, MEASURED, ITSELF, str(own.origin.candidate))
    points = (uncoarsened, *(_point(row, own) for row in own.rows))
    return OwnCurve(own.launch, own.definitions, own.dimension, points)


def _point(row: Measurement, own: OwnRows) -> Point:
    factor, text = row.candidate.factor, str(row.candidate)
    if row.invalidity is Invalidity.CONSTRAINTS:
        return Point(factor, EXCLUDED, None, text, row.reason)
    gain = own.speedup(row)
    return Point(factor, MEASURED, gain, text) if gain else Point(factor, FAILED, None, text, row.reason)
