"""Speed-up against coarsening factor (Magni, Dubach, O'Boyle, PACT 2014, figure 2): the numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.rows import (
    CASE,
    NEEDED,
    comparisons,
    is_excluded,
    is_failed,
    is_rearranged,
    measured,
    names_of,
)
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Role
from coarsen.variant.coarsening import Coarsening, configuration
from coarsen.variant.variant import Variant, shape

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


# Curves as the rows that figures of measurements take: published runtimes drawn by the same functions.
#
# read_curves(runtimes.csv).curves -> curve_frame -> draw_curves, best_table

# The outcome of a factor without a speed-up in a published curve, which gives no reason.
MISSING = "missing"
_UNKNOWN: Mapping[str, object] = {
    **dict.fromkeys(("preset", "platform", "platform_version", "driver_version", "form", "arrays"), ""),
    **dict.fromkeys(("low", "high"), float("nan")),
    "started_at": "",
    "invocation": 0,
    "role": Role.COMPARISON.value,
    "oracle": CheckedAgainst.NOTHING.value,
    "tie": False,
    "cold_cache": False,
}


def curve_frame(curves: Iterable[Curve]) -> pd.DataFrame:
    """The speed-ups of curves as rows, of which the figures of measurements are drawn.

    One row per kernel, device, dimension and factor. Factor 1 has the speed-up 1. A factor that the device has of
    another kernel, but not of this one, could not run: its row failed. Intervals are not known (NaN).

    Args:
        curves: from `read_curves`, such as of a table of runtimes. Those of which only the best factor is known
            are left out.

    Returns:
        the columns that the figures need, which `Results.frame` has too, so that frames of both, one below the
        other (`pandas.concat`), make one figure.

    Raises:
        InvalidInputError: none of the curves has speed-ups.
    """
    usable = [curve for curve in curves if curve.speedup]
    if not usable:
        raise InvalidInputError("none of the curves has speed-ups: there is nothing but best factors")
    factors: defaultdict[str, set[int]] = defaultdict(lambda: {1})
    for curve in usable:
        factors[curve.device] |= set(curve.speedup)
    rows = [row for curve in usable for row in _rows(curve, sorted(factors[curve.device]))]
    return pd.DataFrame(rows, columns=list(NEEDED)).drop_duplicates("key", ignore_index=True)


def device_name(device: str) -> str:
    """Return the name of a curve's device in figures: `fermi` is the NVIDIA GTX 480."""
    known = DEVICE_DESCRIPTORS.get(device)
    return known.full_name.partition(" on ")[0] if known else device


def _rows(curve: Curve, factors: Iterable[int]) -> Iterator[dict[str, object]]:
    local_size = shape(curve.local_size) if curve.local_size else ""
    for factor in factors:
        # Along whichever dimension, factor 1 is the same.
        along = {"dimension": str(curve.dimension), "stride": "1"} if factor > 1 else {}
        place = (curve.device, curve.kernel, along.get("dimension", ""), str(factor))
        yield {
            **_UNKNOWN,
            **dict.fromkeys(("dimension", "stride"), ""),
            **along,
            **_outcome(curve, factor),
            "key": "/".join(place),
            "benchmark": curve.kernel,
            "device": device_name(curve.device),
            "factor": factor,
            "local_size": local_size,
            "baseline_local_size": local_size,
            "work_items": math.prod(curve.local_size) if curve.local_size else 0,
            "configuration": _words(curve, factor),
            "launch": local_size,
            "baseline": local_size,
        }


def _words(curve: Curve, factor: int) -> str:
    """A configuration; of a published curve the local size is not known."""
    coarsenings = configuration([Coarsening(factor, curve.dimension)] if factor > 1 else [])
    if curve.local_size is not None:
        return str(Variant(curve.local_size, coarsenings))
    return " and ".join(map(str, coarsenings)) or "uncoarsened"


def _outcome(curve: Curve, factor: int) -> dict[str, object]:
    speedup = 1.0 if factor == 1 else curve.speedup.get(factor)
    if speedup is None:
        return {"speedup": float("nan"), "invalidity": MISSING}
    # Of a curve that was measured here; published data have no such mark.
    if curve.local_size is not None and speedup == GIVEN_UP_SPEEDUP:
        return {"speedup": float("nan"), "invalidity": Invalidity.TIMEOUT.value}
    return {"speedup": speedup, "invalidity": Invalidity.CORRECT.value}
