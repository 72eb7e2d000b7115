"""Speed-up against coarsening factor (Magni, Dubach, O'Boyle, PACT 2014, figure 2): drawing and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.sheet import (
    BAND,
    BLACK,
    FACTOR,
    LABEL_SIZE,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    SPEEDUP,
    SPEEDUP_OF_ONE,
    factor_axis,
    legend_entry,
    listed,
    mark_one,
    page,
    series_style,
    speedup_axis,
    styled,
    text_width,
)
from coarsen.opencl_bench.results.rows import (
    CASE,
    comparisons,
    is_excluded,
    is_failed,
    is_helped,
    is_rearranged,
    measured,
    names_of,
)
from coarsen.tuning.measure.speedup import CLEAR_GAIN

MOST_COLUMNS = 5
_PANEL_HEIGHT, _LEAST = 1.5, 1.15
_MARK_HEIGHT = 0.045  # of a line of marks, as a part of the panel
_LINES_OF_MARKS = "Marks of failures: a line for each curve, in the order of the legend."
_UNSURE = "White marks looked faster than the best when they were timed, once; only the best were timed again."
_TAKEN = {
    "best": "At each factor the best over local sizes, -D values",
    "baseline": "At each factor the baseline's local size; the best over -D values",
}
_LEFT = {"device": ", dimensions and strides", "dimension": " and strides", "stride": " and dimensions"}


def draw_curves(frame: pd.DataFrame, by: By = "device", choice: Choice = "best") -> Figure:
    """A panel per kernel with a curve per device (or dimension, or stride), on logarithmic axes.

    Bars are the 95 % intervals of the speed-ups. Under a factor stands × where some of its configurations
    failed, a filled cross where none of them worked, a dash where the constraints allow none.

    Args:
        frame: of `Results.frame`, or of `curve_frame`.
        by: what a curve is of; see `curve_points`.
        choice: what is taken of the configurations of a factor; see there.

    Raises:
        InvalidInputError: there is nothing to draw; see `curve_points`.
    """
    points = curve_points(frame, by, choice)
    with styled():
        return _figure(points, comparisons(frame), by, choice)


def _figure(points: pd.DataFrame, rows: pd.DataFrame, by: By, choice: Choice) -> Figure:
    kernels = names_of(points, "benchmark")
    curves = sorted(points["series"].unique(), key=series_order)
    columns = columns_for(len(kernels))
    lines = math.ceil(len(kernels) / columns)
    width = PAGE_WIDTH if columns > 2 else 1.6 + 2.2 * columns
    lines_of_marks = _LINES_OF_MARKS if len(curves) > 1 and failure_marks(points) else ""
    unsure = _UNSURE if points["unsure"].any() else ""
    intervals, best, sizes = remarks_on(rows)
    note = joined(intervals, f"{_TAKEN[choice]}{_LEFT[by]}.", best, unsure, lines_of_marks, sizes)
    height = (_PANEL_HEIGHT if columns > 2 else 2.2) * lines + 0.35
    sheet = page(width, height, curves_finding(points, by, choice), note, _legend(points, curves), _LEAST * lines)
    panels = list(sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    band = _MARK_HEIGHT * (len(curves) + 1) if failure_marks(points) else 0.0
    for axes, kernel in zip(panels, kernels, strict=False):
        _panel(axes, points[points["benchmark"] == kernel], curves, band)
        _name(axes, kernel, 0.8 * width / columns)
    shown = pd.concat([points["speedup"], points["low"], points["high"]])
    speedup_axis(panels[0], shown, room_below=band, ticks=7)
    factor_axis(panels[0], points["factor"].tolist())
    for position, axes in enumerate(panels):
        _finish(axes, position, len(kernels), columns)
    # Where a kernel was tried uncoarsened in several ways, the baseline is the best of them.
    is_best = (rows[rows["factor"] == 1].groupby(CASE).size() > 1).any()
    sheet.label_axes(FACTOR, SPEEDUP if is_best else SPEEDUP_OF_ONE, height - 0.4)
    return sheet.settled()


def columns_for(kernels: int) -> int:
    """Return the number of panels side by side: as few lines as can be, then as few empty places."""
    choices = range(min(3, kernels), MOST_COLUMNS + 1)
    return min(choices, key=lambda columns: (math.ceil(kernels / columns), -kernels % columns))


def _name(axes: Axes, kernel: str, width: float) -> None:
    """The kernel's name over its panel, smaller where it is long, and cut where that is not enough."""
    size = min(LABEL_SIZE, LABEL_SIZE * width / text_width(kernel, LABEL_SIZE, "bold"))
    shown = kernel
    while size < SMALLEST_SIZE and text_width(shown, SMALLEST_SIZE, "bold") > width:
        shown = shown[:-2] + "…"
    axes.set_title(shown, fontsize=max(size, SMALLEST_SIZE), fontweight="bold", pad=3)


def _panel(axes: Axes, points: pd.DataFrame, curves: Sequence[str], band: float) -> None:
    axes.add_patch(Rectangle((0, 0), 1, band, transform=axes.transAxes, color=BAND, linewidth=0, zorder=0))
    for index, name in enumerate(curves):
        own = points[points["series"] == name]
        if own.empty:
            continue
        # A little apart, so that bars don't cover each other.
        shift = 2.0 ** (0.09 * (index - (len(curves) - 1) / 2))
        look = series_style(index)
        below, above = own["speedup"] - own["low"], own["high"] - own["speedup"]
        # NaN where a factor has no speed-up: the line breaks there.
        axes.errorbar(
            own["factor"] * shift,
            own["speedup"],
            yerr=[below.clip(lower=0), above.clip(lower=0)],
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            elinewidth=0.9,
            capsize=1.4,
            label=name,
            gid=f"curve {name}",
        )
        unsure = own[own["unsure"]]
        axes.plot(
            unsure["factor"] * shift,
            unsure["speedup"],
            color=look.colour,
            marker=look.marker,
            linestyle="none",
            markerfacecolor="white",
            zorder=4,
            gid=f"unsure {name}",
        )
        _failures(axes, own, shift, _MARK_HEIGHT * (len(curves) - index), look.colour)


def _failures(axes: Axes, points: pd.DataFrame, shift: float, height: float, colour: str) -> None:
    """Marks at the bottom of the panel, at the height of the curve's line of them."""
    place = axes.get_xaxis_transform()
    for name, marker, size, rows in failure_marks(points):
        axes.plot(
            rows["factor"] * shift,
            [height] * len(rows),
            linestyle="none",
            marker=marker,
            markersize=size,
            color=colour,
            transform=place,
            gid=name,
        )


def failure_marks(points: pd.DataFrame) -> list[tuple[str, str, float, pd.DataFrame]]:
    """Return the failures that there are: for each the mark's name, marker and size, and the points."""
    none_worked = (points["measured"] == 0) & (points["failed"] > 0)
    marks = [
        ("none worked", "X", 4.6, points[none_worked]),
        ("some failed", "x", 3.2, points[(points["failed"] > 0) & ~none_worked]),
        ("none allowed", "_", 4.5, points[(points["measured"] == 0) & (points["failed"] == 0)]),
    ]
    return [mark for mark in marks if len(mark[3])]


def _finish(axes: Axes, position: int, kernels: int, columns: int) -> None:
    """Tick labels stand under the lowest panel of each column; places without a kernel stay empty."""
    if position >= kernels:
        axes.set_axis_off()
        return
    mark_one(axes)
    axes.tick_params(labelbottom=position + columns >= kernels)


def _legend(points: pd.DataFrame, curves: Sequence[str]) -> list[Line2D]:
    entries = [
        legend_entry(name, color=look.colour, marker=look.marker, linestyle=look.line)
        for name, look in ((name, series_style(index)) for index, name in enumerate(curves))
    ]
    words = {
        "none worked": "every configuration failed",
        "some failed": "some configurations failed",
        "none allowed": "no configuration is allowed",
    }
    return entries + [
        legend_entry(words[name], color=BLACK, marker=marker, markersize=size, linestyle="none")
        for name, marker, size, _ in failure_marks(points)
    ]


def curves_finding(points: pd.DataFrame, by: By, choice: Choice = "best") -> str:
    """Say how many kernels coarsening helps: on each device, or along which dimension (with which stride).

    Args:
        points: from `curves.curve_points`.
        by: what a curve is of.
        choice: which configurations the points were taken of.
    """
    finding = _devices_finding(points, best_points(points)) if by == "device" else _series_finding(points)
    if choice == "best":
        return finding
    return "At the baseline's local size " + finding.replace("Coarsening ", "coarsening ", 1)


def _series_finding(points: pd.DataFrame) -> str:
    """Say how many kernels coarsening helps on a device, and along which dimension or with which stride."""
    winners = best_points(points, ["benchmark"])
    helping = winners[is_helped(winners)]
    total, device = points["benchmark"].nunique(), points["label"].iloc[0]
    if total == 1:
        words = {"dimension": " along ", "stride": " with "}
        places = [words[name.partition(" ")[0]] + name for name in winners["series"]]
        return _one_kernel(points, winners.assign(place=places))
    without = _remarks([f"{total - len(winners)} without a result"] if len(winners) < total else [])
    if helping.empty:
        return f"Coarsening helps none of {_kernels(total)}{without} on {device}"
    counts = helping["series"].value_counts()
    order = sorted(counts.index, key=lambda name: (-counts[name], series_order(name)))
    alternatives = points[(points["factor"] > 1) & (points["measured"] > 0)]
    rivals = alternatives.groupby("benchmark")["series"].nunique()
    alone = helping.loc[helping["benchmark"].map(rivals) == 1, "series"].value_counts()
    remarks = {name: f" ({alone[name]} with no other to choose)" for name in alone.index}
    shares = [f"{name} for {counts[name]}{remarks.get(name, '')}" for name in order]
    shares[0] = shares[0].replace(" for ", " is best for ", 1)
    return f"Coarsening helps {len(helping)} of {_kernels(total)}{without} on {device}: {listed(shares)}"


def _devices_finding(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    if points["benchmark"].nunique() == 1:
        return _one_kernel(points, winners.assign(place=""))
    parts: list[str] = []
    for device in names_of(points, "series"):
        own = winners[winners["series"] == device]
        total = points.loc[points["series"] == device, "benchmark"].nunique()
        helped, clearly = int(is_helped(own).sum()), int(is_helped(own, CLEAR_GAIN).sum())
        remarks = [f"{clearly} by more than {100 * (CLEAR_GAIN - 1):.0f} %"] if clearly < helped else []
        remarks += [f"{total - len(own)} without a result"] if len(own) < total else []
        kernels = str(total) if parts else _kernels(total)
        parts.append(f"{helped or 'none'} of {kernels}{_remarks(remarks)} on {device}")
    return "Coarsening helps " + listed(parts)


def _remarks(remarks: list[str]) -> str:
    return f" ({', '.join(remarks)})" if remarks else ""


def _one_kernel(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    """Say what coarsening does to the only kernel on each device; the winners' `place` says where on it."""
    kernel = points["benchmark"].iloc[0]
    helping, known = winners[is_helped(winners)], set(winners["label"])
    unhelped = [name for name in names_of(winners, "label") if name not in set(helping["label"])]
    unknown = [name for name in names_of(points, "label") if name not in known]
    parts = []
    if len(helping):
        gains = [
            f"{_times(row.speedup)} on {row.label} at factor {row.factor}{row.place}"
            for row in helping.itertuples()
        ]
        gains[0] = gains[0].replace(" times ", " times as fast ", 1)
        parts.append(f"makes {kernel} {listed(gains)}")
    if unhelped:
        parts.append(f"does not help {'it' if parts else kernel} on {listed(unhelped)}")
    sentences = ["Coarsening " + ", and ".join(parts)] if parts else []
    sentences += [f"{kernel} has no result on {listed(unknown)}"] if unknown else []
    sentences += ["what lies above was timed once"] if points["unsure"].any() else []
    return "; ".join(sentences)


def _times(speedup: float) -> str:
    """Return the speed-up in words, with a third digit if two would read 1."""
    return f"{speedup:.3f} times" if f"{speedup:.2f}" == "1.00" else f"{speedup:.2f} times"


def _kernels(count: int) -> str:
    return f"{count} kernel" if count == 1 else f"{count} kernels"


# What a figure has to say of its rows: what they were compared with, intervals, confirmations, sizes.

# More names are of no use in a note.
_NAMED = 4


def remarks_on(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Return sentences for the note of a figure, empty where there is nothing to say: intervals, the best, sizes.

    Args:
        rows: from `rows.comparisons`.
    """
    confirmed = "The best of each kernel has the speed-up of its confirmation, where it was measured again."
    chosen = "The best of each kernel was chosen by the speed-ups that are shown, so it is somewhat too large."
    return (
        "Bars: 95 % intervals." if rows["low"].notna().any() else "Intervals are not known.",
        confirmed if rows["confirmed"].any() else chosen,
        joined(_sizes(rows), *_left_out(rows)),
    )


def _left_out(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was measured of these kernels too and is not shown, since it does not compare."""
    for column, words in (("other_presets", "at preset"), ("other_baselines", "over the baseline")):
        for other, own in rows[rows[column] != ""].groupby(column):
            names = names_of(own, "benchmark")
            kernels = listed(names) if len(names) <= _NAMED else f"{len(names)} kernels"
            yield f"Not shown: what was measured of {kernels} {words} {other}."


def joined(*sentences: str) -> str:
    """A note of those sentences that aren't empty."""
    return " ".join(sentence for sentence in sentences if sentence)


def _sizes(rows: pd.DataFrame) -> str:
    """Return which devices had which problem sizes, where they aren't all the same."""
    places = rows[["label", "preset"]].drop_duplicates()
    if places["preset"].nunique() < 2 or rows.groupby("benchmark")["preset"].nunique().max() < 2:
        return ""
    parts = [
        f"{f'preset {preset}' if preset else 'unknown'} on {listed(names_of(own, 'label'))}"
        for preset, own in sorted(places.groupby("preset"), key=lambda group: (group[0] == "", group[0]))
    ]
    return f"Problem sizes differ: {'; '.join(parts)}."


# Speed-up against coarsening factor (Magni, Dubach, O'Boyle, PACT 2014, figure 2): the numbers.

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
