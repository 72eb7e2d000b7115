"""Curves along which nothing but the factor changes: a kernel's own launch, over the same launch uncoarsened.

comparisons of one kernel at one place ─▶ own local size, stride 1 ─▶ rows that one baseline makes comparable

All were timed against the baseline of the sweep, so a speed-up here is a ratio of two ratios.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.results.best import seconds_of
from coarsen.opencl_bench.results.speedups import relative_speedup, speedup_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions, LocalSize
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """The launch that a kernel's description gives; where none is known, the baseline's, and not `is_own`."""

    local_size: LocalSize
    is_own: bool


@dataclass(frozen=True, slots=True)
class OwnRows:
    """The rows of a kernel's own launch along a dimension.

    Attributes:
        launch: of all of them; `definitions` are its `-D` values.
        dimension: of the NDRange.
        origin: the launch uncoarsened, which has a time.
        rows: work-items coarsened along the dimension alone, with stride 1 and one choice of transforms without
            wide accesses, by rising factors; failed ones are among them.
    """

    launch: OwnLaunch
    definitions: Definitions
    dimension: int
    origin: Measurement
    rows: tuple[Measurement, ...]

    def speedup(self, row: Measurement, interval: bool = True) -> Speedup | None:
        """Return the speed-up of one of the rows over the launch uncoarsened; None where it has no time."""
        known = speedup_of(row, interval=False) is not None
        return relative_speedup(row, self.origin, interval) if known else None


def own_rows(benchmark: Benchmark | None, measurements: Iterable[Measurement]) -> tuple[OwnRows, ...]:
    """Return the rows of a kernel's own launch for each dimension that was coarsened; none without factor 1.

    Args:
        benchmark: the kernel, None where it is not known.
        measurements: of this kernel at one place and preset, of any role.
    """
    compared = [row for row in measurements if row.role is Role.COMPARISON]
    rows = sorted(compared, key=lambda row: seconds_of(row.started_at))
    if not rows:
        return ()
    launch, definitions = _own_launch(benchmark, rows), _own_definitions(benchmark, rows)
    own = [row for row in rows if _is_of(row.candidate, launch, definitions)]
    origin = next((row for row in reversed(own) if row.candidate.is_original), None)
    if origin is None or speedup_of(origin, interval=False) is None:
        return ()
    # What an earlier run timed against another baseline does not compare.
    known = _of_newest_transforms(
        {row.candidate: row for row in own if _is_alone(row.candidate) and row.baseline == origin.baseline}
    )
    dimensions = sorted({candidate.coarsenings[0].dimension for candidate in known})
    return tuple(
        OwnRows(launch, definitions, dimension, origin, _along(dimension, known.values()))
        for dimension in dimensions
    )


def _is_of(candidate: Variant, launch: OwnLaunch, definitions: Definitions) -> bool:
    return (candidate.local_size, candidate.definitions) == (launch.local_size, definitions)


def _along(dimension: int, rows: Iterable[Measurement]) -> tuple[Measurement, ...]:
    own = [row for row in rows if row.candidate.coarsenings[0].dimension == dimension]
    return tuple(sorted(own, key=lambda row: row.candidate.factor))


def _is_alone(candidate: Variant) -> bool:
    """Return True if work-items along one dimension are coarsened, with stride 1, and nothing else is changed."""
    coarsenings = candidate.coarsenings
    is_plain = not (candidate.transforms.wide_accesses or candidate.transforms.distinct or candidate.arrays)
    if candidate.any_size or not is_plain or len(coarsenings) != 1:
        return False
    return coarsenings[0].level is Level.ITEM and coarsenings[0].stride == 1 and coarsenings[0].factor > 1


def _of_newest_transforms(rows: dict[Variant, Measurement]) -> dict[Variant, Measurement]:
    """The rows with one choice of transforms: the default one, or else that of the last row."""
    known = [candidate.transforms for candidate in reversed(rows)]
    usual = (transforms for transforms in known if replace(transforms, device_kind=DEFAULT.device_kind) == DEFAULT)
    chosen = next(usual, known[0] if known else None)
    return {candidate: row for candidate, row in rows.items() if candidate.transforms == chosen}


def _own_launch(benchmark: Benchmark | None, rows: Sequence[Measurement]) -> OwnLaunch:
    measured = dict.fromkeys(row.candidate.local_size for row in rows)
    preset = benchmark.presets.get(rows[0].subject.preset) if benchmark else None
    if preset is not None and preset.local_size in measured:
        return OwnLaunch(preset.local_size, True)
    baselines = Counter(row.baseline.local_size for row in rows if row.baseline is not None)
    return OwnLaunch(baselines.most_common(1)[0][0] if baselines else next(iter(measured)), False)


def _own_definitions(benchmark: Benchmark | None, rows: Sequence[Measurement]) -> Definitions:
    measured = dict.fromkeys(row.candidate.definitions for row in rows)
    own = benchmark.own_definitions if benchmark else ()
    return own if own in measured else next(iter(measured))
