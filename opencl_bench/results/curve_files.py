"""Curves from files, whose kind the name and the first line tell.

kind                                                                 read by
-------------------------------------------------------------------  ----------------
a table of runtimes (.csv): kernel,factor,DEVICE_ns,...              `curve_tables`
a table of best factors (.csv): kernel,device,best_factor,...        `curve_tables`
results (.parquet, .json, .csv, .jsonl), or a store of them          `measured_curves`
the name of a sweep that comes with the package                      `measured_curves`
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.results.curve_tables import read_table
from coarsen.opencl_bench.results.curves import CurveData
from coarsen.opencl_bench.results.measured_curves import curves_of_results
from coarsen.opencl_bench.results.measured_rows import read_rows
from coarsen.opencl_bench.results.shipped import shipped_files


def read_curves(source: str, preset: str | None = None, kernels: Path | None = None) -> CurveData:
    """Return the curves of a file or store.

    Args:
        source: a CSV table of runtimes or best factors; a file of results; a store (an SQLite file or a URL); the
            name of a sweep that comes with the package, `synthetic_intel` for example.
        preset: of results, those at this preset only; some must be.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.

    Raises:
        InvalidInputError: it can't be read, or has no curve. The message names it, and the line where it can.
    """
    source = str(shipped_files().get(source, source))
    data = read_table(Path(source)) if source.lower().endswith(".csv") else None
    if data is None:
        rows = read_rows(source)
        _check_preset(source, preset, rows)
        data = curves_of_results(rows, preset, kernels)
    if not data.curves:
        reasons = "".join(f"; {note}" for note in data.notes)
        raise InvalidInputError(f"{source}: no kernel was measured uncoarsened and coarsened{reasons}")
    return data


def _check_preset(source: str, preset: str | None, rows: Sequence[Measurement]) -> None:
    presets = dict.fromkeys(row.subject.preset for row in rows)
    if preset is not None and presets and preset not in presets:
        raise InvalidInputError(
            f"{source}: nothing was measured at preset '{preset}'; there is: {', '.join(presets)}"
        )
