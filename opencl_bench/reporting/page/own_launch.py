"""Curves along which nothing but the factor changes: a kernel's own launch, over the same launch uncoarsened.

comparisons of one kernel at one place ─▶ own local size, stride 1 ─▶ speed-up over factor 1, with an interval

Both were timed against the baseline of the sweep, so a speed-up here is a ratio of two ratios, and its interval is
the percentile bootstrap of both, resampled independently of each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.opencl_bench.measure.speedup import Speedup, median, resampled_ratios
from coarsen.opencl_bench.records.candidate import Candidate
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.reporting.page.content import EXCLUDED, FAILED, MEASURED, Point
from coarsen.opencl_bench.results.speedups import speedup_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions, LocalSize

_SELF = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """The launch that a kernel's description gives; where none is known, the baseline's, and not `is_own`."""

    local_size: LocalSize
    is_own: bool


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

    def point(self, factor: int) -> Point | None:
        """The point of a factor, None where it was not asked for."""
        return next((point for point in self.points if point.factor == factor), None)


def own_curves(benchmark: Benchmark | None, measurements: Iterable[Measurement]) -> tuple[OwnCurve, ...]:
    """The curves of a kernel at a place, one along each dimension that was coarsened; none without factor 1.

    Args:
        benchmark: the kernel, None where it is not known.
        measurements: of this kernel there, of any role.
    """
    rows = _latest(row for row in measurements if row.role is Role.COMPARISON)
    if not rows:
        return ()
    launch = _own_launch(benchmark, list(rows.values()))
    definitions = _own_definitions(benchmark, list(rows))
    origin = rows.get(Candidate(launch.local_size, (), definitions))
    if origin is None or speedup_of(origin, interval=False) is None:
        return ()
    curves: dict[int, list[Point]] = {}
    for candidate, row in sorted(rows.items(), key=lambda entry: entry[0].factor):
        # What an earlier run timed against another baseline does not compare.
        if _is_of(candidate, launch.local_size, definitions) and row.baseline == origin.baseline:
            curves.setdefault(candidate.coarsenings[0].dimension, []).append(_point(row, origin))
    uncoarsened = Point(1, MEASURED, _SELF, str(origin.candidate))
    return tuple(
        OwnCurve(launch, definitions, dimension, (uncoarsened, *points))
        for dimension, points in sorted(curves.items())
        if any(point.state != EXCLUDED for point in points)
    )


def _latest(rows: Iterable[Measurement]) -> Mapping[Candidate, Measurement]:
    ordered = sorted(rows, key=lambda row: row.started_at)
    return {row.candidate: row for row in ordered}


def _is_of(candidate: Candidate, local_size: LocalSize, definitions: Definitions) -> bool:
    coarsenings = candidate.coarsenings
    one = len(coarsenings) == 1 and coarsenings[0].stride == 1 and coarsenings[0].factor > 1
    return one and (candidate.local_size, candidate.definitions) == (local_size, definitions)


def _own_launch(benchmark: Benchmark | None, rows: Sequence[Measurement]) -> OwnLaunch:
    measured = dict.fromkeys(row.candidate.local_size for row in rows)
    preset = benchmark.presets.get(rows[0].subject.preset) if benchmark else None
    if preset is not None and preset.local_size in measured:
        return OwnLaunch(preset.local_size, True)
    baselines = Counter(row.baseline.local_size for row in rows if row.baseline is not None)
    return OwnLaunch(baselines.most_common(1)[0][0] if baselines else next(iter(measured)), False)


def _own_definitions(benchmark: Benchmark | None, candidates: Sequence[Candidate]) -> Definitions:
    measured = dict.fromkeys(candidate.definitions for candidate in candidates)
    own = benchmark.own_definitions if benchmark else ()
    return own if own in measured else next(iter(measured))


def _point(row: Measurement, origin: Measurement) -> Point:
    factor, text = row.candidate.factor, str(row.candidate)
    if row.invalidity is Invalidity.CONSTRAINTS:
        return Point(factor, EXCLUDED, None, text, row.reason)
    if speedup_of(row, interval=False) is None:
        return Point(factor, FAILED, None, text, row.reason)
    return Point(factor, MEASURED, relative_speedup(row, origin), text)


def relative_speedup(row: Measurement, origin: Measurement) -> Speedup:
    """How many times as fast a configuration is as another one that was timed against the same baseline.

    Args:
        row: a measurement with times; `origin` another.
    """
    times, others = ((each.baseline_nanoseconds, each.nanoseconds) for each in (row, origin))
    own, other = (median(baseline) / median(runs) for baseline, runs in (times, others))
    level = row.method.level
    resampled = resampled_ratios(*times, seed=0) / resampled_ratios(*others, seed=1)
    low, high = np.quantile(resampled, ((1 - level) / 2, (1 + level) / 2))
    return Speedup(own / other, float(low), float(high))
