"""The matrix of times, inputs × versions, from stored rows.

rows of a version against the default one, both at the same input in the same process
    ──▶ ratio × the default version's time at that input ──▶ seconds; NaN where the version failed, and how it did

Rows are found by benchmark, preset and seed, and are of one environment, method and clock: keys of subjects tell
macros apart, and so inputs could not be joined by them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.current_source import CurrentSource
from coarsen.opencl_bench.inputs.row_endings import ending_of
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Environment, Invalidity, Measurement, Method, Role
from coarsen.opencl_bench.results.store.database import Filter, Store
from coarsen.variant.variant import Variant

NANOSECONDS_PER_SECOND = 1e9
Cell = tuple[str, Variant]


@dataclass(frozen=True, slots=True)
class TimesRequest:
    """The rows that a matrix is made from.

    Attributes:
        benchmark: its name.
        inputs: the name of each is the preset.
        versions: the columns, the default among them.
        default: the version that they were compared with.
        seed: of the contents.
        environment: where it was measured; None where there is only one.
        method: how; likewise.
    """

    benchmark: str
    inputs: tuple[InputPoint, ...]
    versions: tuple[Variant, ...]
    default: Variant
    seed: int = 0
    environment: Environment | None = None
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class MeasuredTimes:
    """A matrix of times.

    Attributes:
        times: of the inputs at which the default version runs.
        left_out: the other inputs' names, each with why it doesn't.
    """

    times: VersionTimes
    left_out: Mapping[str, str]


def stored_times(store: Store, asked: TimesRequest, source: CurrentSource) -> MeasuredTimes:
    """Return the matrix of what a store has of a kernel as it is now.

    Args:
        store: may also have rows of the kernel as it was, and of other inputs of the same names.
        asked: the rows.
        source: of the benchmark.

    Raises:
        InvalidInputError: as `measured_times`.
    """
    rows = store.measurements(Filter(benchmark=asked.benchmark))
    return measured_times((row for row in rows if source.is_of(row)), asked)


def measured_times(rows: Iterable[Measurement], asked: TimesRequest) -> MeasuredTimes:
    """Return the matrix of some rows.

    Raises:
        InvalidInputError: a version was not measured at an input; there are rows of several environments, methods
            or clocks; the default is none of the versions, or runs at no input.
    """
    if asked.default not in asked.versions:
        raise InvalidInputError(f"the default version, {asked.default}, is not among the versions")
    newest = _chosen(rows, asked)
    runs, left_out = _inputs_by_default(newest, asked)
    if not runs:
        raise InvalidInputError(
            f"the default version runs at no input: {next(iter(left_out.values()), 'none given')}"
        )
    _check_all_measured(newest, runs, asked)
    seconds = [
        [_seconds(newest[point.name, asked.default]) * _ratio(newest[point.name, each]) for each in asked.versions]
        for point in runs
    ]
    endings = [[ending_of(newest[point.name, each]) for each in asked.versions] for point in runs]
    default = asked.versions.index(asked.default)
    times = VersionTimes(runs, asked.versions, np.array(seconds), default, np.array(endings, dtype=np.int8))
    return MeasuredTimes(times, left_out)


def _chosen(rows: Iterable[Measurement], asked: TimesRequest) -> dict[Cell, Measurement]:
    """The rows that were asked for, by their cells; of a row that was measured anew, the newest version."""
    presets, versions = {point.name for point in asked.inputs}, {*asked.versions}
    found: dict[Cell, Measurement] = {}
    circumstances = set()
    for row in rows:
        subject = row.subject
        is_asked = (subject.benchmark, subject.seed, row.role) == (asked.benchmark, asked.seed, Role.COMPARISON)
        is_at_hand = row.environment == (asked.environment or row.environment)
        is_alike = row.method == (asked.method or row.method) and row.baseline == asked.default
        is_cell = subject.preset in presets and row.candidate in versions
        if not (is_asked and is_at_hand and is_alike and is_cell):
            continue
        circumstances.add((row.environment, row.method, row.clock))
        cell = subject.preset, row.candidate
        if cell not in found or found[cell].started_at <= row.started_at:
            found[cell] = row
    if len(circumstances) > 1:
        raise InvalidInputError(
            f"{asked.benchmark}: there are rows of {len(circumstances)} environments, methods or clocks; "
            "say which environment and method"
        )
    return found


def _inputs_by_default(
    rows: Mapping[Cell, Measurement], asked: TimesRequest
) -> tuple[tuple[InputPoint, ...], dict[str, str]]:
    """The inputs at which the default version runs or wasn't measured, and why it doesn't at the others."""
    runs, left_out = [], {}
    for point in asked.inputs:
        row = rows.get((point.name, asked.default))
        if row is None or row.invalidity is Invalidity.CORRECT:
            runs.append(point)
        else:
            left_out[point.name] = f"{row.invalidity}: {row.reason}"
    return tuple(runs), left_out


def _check_all_measured(
    rows: Mapping[Cell, Measurement], inputs: Iterable[InputPoint], asked: TimesRequest
) -> None:
    cells = [(point.name, version) for point in inputs for version in asked.versions]
    lacking = [cell for cell in cells if cell not in rows]
    if lacking:
        preset, version = lacking[0]
        raise InvalidInputError(
            f"{asked.benchmark}: {len(lacking)} of {len(cells)} measurements are missing, the first of {version} "
            f"at {preset}: measure the versions first"
        )


def _seconds(default: Measurement) -> float:
    """The time of the default version, which was timed against itself."""
    return median([*default.nanoseconds, *default.baseline_nanoseconds]) / NANOSECONDS_PER_SECOND


def _ratio(row: Measurement) -> float:
    """The time of a version as a ratio to the default's; of the default itself 1, NaN where it failed."""
    if row.invalidity is not Invalidity.CORRECT:
        return math.nan
    return 1.0 if row.candidate == row.baseline else median(row.nanoseconds) / median(row.baseline_nanoseconds)
