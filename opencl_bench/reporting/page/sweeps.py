"""The measurements in the groups that the page shows: presets, which don't compare, and the places in each.

results ─▶ one PresetRows for each preset ─▶ one Sweep for each device, driver and form of code in it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.reporting.curve_points import curve_points
from coarsen.opencl_bench.results.best_table import best_table
from coarsen.opencl_bench.results.intervals import frame_with_intervals
from coarsen.opencl_bench.results.rows import labelled


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
