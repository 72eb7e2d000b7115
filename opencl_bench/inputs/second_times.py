"""Second times for an evaluation: what must be confirmed in new processes, and the matrix that this makes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from coarsen.models.inputs.judging import Plan
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.matrix import Cell


def cells_to_confirm(plan: Plan) -> tuple[Cell, ...]:
    """Return the inputs, by name, and versions to be timed again; the default version is timed with each."""
    times = plan.study.times
    pairs = ((row, column) for row, column in plan.pairs if column != times.default)
    return tuple((times.inputs[row].name, times.versions[column]) for row, column in pairs)


def second_times(times: VersionTimes, ratios: Mapping[Cell, float]) -> Array:
    """Return the second times as seconds, (n, m); NaN where nothing was confirmed, infinity where that failed.

    Args:
        times: the first ones, of whose default version the ratios are taken: it is judged with ratio 1, so that
            nothing but ratios within one process counts.
        ratios: of versions to the default one, by input and version; NaN for one that failed.
    """
    again = np.full(times.seconds.shape, np.nan)
    defaults = times.seconds[:, times.default]
    again[:, times.default] = defaults
    rows = {point.name: row for row, point in enumerate(times.inputs)}
    columns = {version: column for column, version in enumerate(times.versions)}
    for (name, version), ratio in ratios.items():
        if name in rows and version in columns and columns[version] != times.default:
            again[rows[name], columns[version]] = math.inf if math.isnan(ratio) else ratio * defaults[rows[name]]
    return again
