"""Stored sweeps as tables: every configuration of a kernel that was measured on a device.

comparisons over one baseline ─▶ relative times by local size × factors × strides × transforms × -D ─▶ Table
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.results.exchange.t4 import t4_configuration
from coarsen.opencl_bench.results.frames import frame
from coarsen.opencl_bench.results.rows import CASE, comparisons, is_excluded
from coarsen.opencl_bench.search.spaces import Axis
from coarsen.opencl_bench.search.tables import Row, Table, table_of
from coarsen.variant.variant import Variant

# Of a local size and a coarsening, every value changes what the others cost.
_SHARED = ("local_size", "factor", "stride", "group_factor")
# A table with a single time has nothing to be searched for.
_LEAST_TIMES = 2


def sweep_tables(measurements: Sequence[Measurement]) -> list[Table]:
    """Make a table of each kernel on each device.

    Times are relative to the baseline, which ran in turns with each configuration, so that a change of clock
    between them cancels out. What the constraints exclude is no part of a space; other failures are. The base is
    the uncoarsened kernel as its benchmark launches it. Local sizes and coarsenings are shared axes, transforms
    and macros independent ones.

    Args:
        measurements: of any kernels and devices; see `comparisons` for which of several of the same count. Kernels
            of which less than two configurations have a time are left out.

    Raises:
        InvalidInputError: none of the measurements is a comparison with a baseline.
    """
    rows = comparisons(frame(measurements, intervals=False))
    by_key = {measurement.key: measurement for measurement in measurements}
    first = _first_launches(measurements)
    tables = []
    for (label, benchmark), own in rows[~is_excluded(rows)].groupby(CASE, sort=True):
        if own["speedup"].notna().sum() >= _LEAST_TIMES:
            tables.append(_table(f"{benchmark} on {label}", own, by_key, first))
    return tables


def _table(
    name: str, rows: pd.DataFrame, by_key: Mapping[str, Measurement], first: Mapping[Hashable, Variant]
) -> Table:
    measured = [by_key[key] for key in rows["key"]]
    configurations = [_configuration(measurement.candidate) for measurement in measured]
    axes = _axes(configurations)
    names = {axis.name for axis in axes}
    results: list[Row] = [
        (
            {parameter: configuration[parameter] for parameter in names},
            None if math.isnan(speedup) else 1 / speedup,
            measurement.compile_seconds + measurement.measure_seconds,
        )
        for configuration, speedup, measurement in zip(configurations, rows["speedup"], measured, strict=True)
    ]
    default = first.get(_case(measured[0])) or measured[0].baseline or measured[0].candidate
    chosen = _configuration(default)
    return table_of(name, axes, results, {axis.name: chosen.get(axis.name, "") for axis in axes})


def _first_launches(measurements: Sequence[Measurement]) -> dict[Hashable, Variant]:
    """The launch of each kernel on each device that other uncoarsened ones were first compared with."""
    return {
        _case(measurement): measurement.baseline
        for measurement in measurements
        if measurement.role is Role.SELECTION and measurement.baseline is not None
    }


def _case(measurement: Measurement) -> Hashable:
    subject = measurement.subject
    return subject.benchmark, subject.preset, measurement.environment.device, measurement.environment.platform


def _configuration(candidate: Variant) -> dict[str, Hashable]:
    return {name: _as_number(value) for name, value in t4_configuration(candidate).items()}


def _as_number(value: int | str) -> int | str:
    """Macros have texts for values: numbers among them are told apart by size."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def _axes(configurations: Sequence[Mapping[str, Hashable]]) -> list[Axis]:
    """The parameters of which there are several values, in ascending order; texts come after numbers."""
    values: dict[str, set[Hashable]] = {}
    for configuration in configurations:
        for name, value in configuration.items():
            values.setdefault(name, set()).add(value)
    # A macro that some configurations lack has the empty text there.
    return [
        Axis(name, tuple(sorted(own, key=_order)), name.startswith(_SHARED))
        for name, own in values.items()
        if len(own) > 1
    ]


def _order(value: Hashable) -> tuple[bool, float, str]:
    return isinstance(value, str), float(value) if isinstance(value, int) else 0.0, str(value)
