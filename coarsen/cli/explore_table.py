"""The table of `coarsen explore`: the best configuration of each kernel on each device."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from coarsen.cli.output import counted, print_json, print_line, print_table
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.results.best import best_words, verified_against
from coarsen.opencl_bench.results.rows import geometric_means

HEADINGS = (
    *("kernel", "device", "baseline", "best configuration", "speed-up", "verified against"),
    *("measured", "failed"),
)


def print_best(table: pd.DataFrame) -> None:
    """Print the best configurations and the geometric means.

    Args:
        table: from `Results.best`.
    """
    print_table(HEADINGS, _lines(table), numbers=("measured", "failed"))
    print_line()
    for row in geometric_means(table).itertuples():
        mean = "" if math.isnan(row.speedup) else f"geometric mean {row.speedup:.2f}; "
        kernels = f"{row.measured} of {counted(row.kernels, 'kernel')} measured"
        others = f", arrays that lie otherwise {row.laid_out} more" if row.laid_out else ""
        print_line(f"{row.label}: {mean}{kernels}; coarsening helps {row.helped}{others}")


def print_best_as_json(table: pd.DataFrame) -> None:
    """Print what `print_best` prints as JSON."""
    print_json({"best": records(table), "geometric_means": records(geometric_means(table))})


def records(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as JSON has them, null where there is no number."""
    plain = rows.rename(columns={"label": "device"}).astype(object)
    return [
        {
            str(name): None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in plain.to_dict("records")
    ]


def _lines(table: pd.DataFrame) -> Iterator[list[str]]:
    for row in table.itertuples():
        speedup = "none" if math.isnan(row.speedup) else best_words(Speedup(row.speedup, row.low, row.high))
        yield [
            row.benchmark,
            row.label,
            row.baseline,
            row.configuration or "none",
            speedup,
            verified_against(row.oracle, coarsened=row.factor > 1 or bool(row.arrays)),
            f"{row.measured} of {row.configurations}",
            str(row.failed),
        ]
