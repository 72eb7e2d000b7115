"""A frame whose intervals are computed only where they are looked at: a bootstrap takes milliseconds a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.results.frames import frame
from coarsen.opencl_bench.results.rows import deciding_keys


def frame_with_intervals(
    measurements: Sequence[Measurement], keys_of: Callable[[pd.DataFrame], Iterable[str]]
) -> pd.DataFrame:
    """Return the frame of measurements with intervals in some rows: `low`, `high` are NaN in others, `tie` False.

    The intervals that decide which configuration is the best are always there.

    Args:
        measurements: any.
        keys_of: given the frame without any intervals, the keys of the rows that need one.
    """
    rows = frame(measurements, intervals=False)
    wanted = {*keys_of(rows), *deciding_keys(rows)}
    chosen = frame(measurement for measurement in measurements if measurement.key in wanted)
    known = chosen.drop_duplicates("key").set_index("key")
    for column in ("low", "high"):
        rows[column] = rows["key"].map(known[column])
    rows["tie"] = rows["key"].isin(known.index[known["tie"]])
    return rows
