"""Speed-up against coarsening factor (Magni, Dubach, O'Boyle, PACT 2014, figure 2): the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.rows import (
    CASE,
    comparisons,
    is_excluded,
    is_failed,
    is_rearranged,
    measured,
    names_of,
)

By = Literal["device", "dimension", "stride"]
Choice = Literal["best", "baseline"]


def curve_points(frame: pd.DataFrame, by: By = "device", choice: Choice = "best") -> pd.DataFrame:
    """One row per kernel, curve and factor that was asked for.

    Args:
        frame: of `Results.frame`.
        by: what a curve is of. `device`: a device, the best taken over dimensions and strides as well.
            `dimension`, `stride`: a value of it on one device; uncoarsened configurations belong to every curve.
        choice: what is taken of the configurations of a factor. `best`: the one with the largest speed-up,
            whatever its local size and `-D` values. `baseline`: the same among those with the baseline's local
            size, so that only coarsening differs. The best of all factors is always taken.

    Returns:
        columns `benchmark`, `label` (the device's name), `series` (the curve's name), `factor`, `speedup`, `low`,
        `high`, `configuration`, `key` (of the one that is taken; NaN and empty where none has a speed-up), `best`
        (whether that one is the best of its kernel on its device), `unsure` (whether it looked faster than the
        best, and was timed only once), and how many configurations were `measured`, `failed` and `excluded`
        (outside the constraints).

    Raises:
        InvalidInputError: nothing was compared; rows of several devices where a curve is no device; no
            configuration with the baseline's local size.
    """
    _check(by, By)
    _check(choice, Choice)
    rows = comparisons(frame)
    # What arrays that lie otherwise gain by themselves is no point at factor 1, which is the kernel as it is.
    rows = rows[(rows["factor"] > 1) | ~is_rearranged(rows)]
    if choice == "baseline":
        rows = _with_baseline_local_size(rows)
    devices = names_of(rows, "label")
    if by != "device" and len(devices) > 1:
        raise InvalidInputError(f"curves by {by} are of one device; choose one of {'; '.join(devices)}")
    series = rows.assign(series=rows["label"]) if by == "device" else _in_every_series(rows, by)
    winners = rows[rows["chosen"]].set_index(CASE)["speedup"]
    series["beaten"] = [winners.get(case, np.nan) for case in series[CASE].itertuples(index=False, name=None)]
    grouped = series.groupby(["benchmark", "series", "factor"], sort=False)
    points = pd.DataFrame([_point(kernel, curve, factor, group) for (kernel, curve, factor), group in grouped])
    order = [points["benchmark"].str.casefold(), points["series"].map(series_order), points["factor"]]
    return points.iloc[np.lexsort([column.to_numpy() for column in reversed(order)])].reset_index(drop=True)


def series_order(name: str) -> tuple[int, str]:
    """Return the sort key of a curve: numbers by value ("stride 8" before "stride 32"), names by letters."""
    kind, _, value = name.partition(" ")
    numbered = kind in ("dimension", "stride") and value.isdigit()
    return (int(value), "") if numbered else (1 << 30, name.casefold())


def best_points(points: pd.DataFrame, each: Sequence[str] = ("benchmark", "series")) -> pd.DataFrame:
    """The best point for each combination of the named columns; factor 1 competes too.

    It is the one with the configuration that was chosen as the best of all, or else the highest.

    Args:
        points: from `curve_points`.
        each: of "benchmark" and "series".
    """
    ranked = measured(points).sort_values(["best", "speedup"], ascending=False, kind="stable")
    return ranked.drop_duplicates(list(each)).sort_index().reset_index(drop=True)


def _check(value: str, allowed: object) -> None:
    if value not in get_args(allowed):
        raise InvalidInputError(f"'{value}' is none of {', '.join(get_args(allowed))}")


def _with_baseline_local_size(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the local size of their kernel's baseline on their device."""
    chosen = rows[rows["local_size"] == rows["baseline_local_size"]]
    if chosen.empty:
        raise InvalidInputError("no configuration with the baseline's local size was measured")
    return chosen


def _in_every_series(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows with the curve that they belong to; uncoarsened ones once per curve of their kernel."""
    coarsened, uncoarsened = rows[rows[column] != ""], rows[rows[column] == ""]
    if coarsened.empty:
        raise InvalidInputError("there is no coarsened configuration to draw a curve of")
    own = coarsened.assign(series=f"{column} " + coarsened[column])
    curves = own[["benchmark", "series"]].drop_duplicates()
    return pd.concat([own, uncoarsened.merge(curves, on="benchmark")], ignore_index=True)


def _point(benchmark: str, series: str, factor: int, group: pd.DataFrame) -> dict[str, object]:
    ranked = measured(group).sort_values(["chosen", "speedup"], ascending=False, kind="stable")
    nothing: dict[str, Any] = {"speedup": np.nan, "low": np.nan, "high": np.nan, "configuration": "", "key": ""}
    taken = nothing | {"chosen": False, "confirmed": False} if ranked.empty else ranked.iloc[0]
    return {
        "benchmark": benchmark,
        "label": group["label"].iloc[0],
        "series": series,
        "factor": factor,
        **{name: taken[name] for name in nothing},
        "best": bool(taken["chosen"]),
        "unsure": _is_unsure(taken, group["beaten"].iloc[0]),
        "measured": len(ranked),
        "failed": int(is_failed(group).sum()),
        "excluded": int(is_excluded(group).sum()),
    }


def _is_unsure(taken: Mapping[str, Any] | pd.Series, beaten: float) -> bool:
    """Return True if a point that was not timed again lies above the best of its kernel, interval and all."""
    low = taken["speedup"] if np.isnan(taken["low"]) else taken["low"]
    return bool(not taken["confirmed"] and low > beaten)
