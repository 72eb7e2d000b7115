"""Speed-up against coarsening factor (Magni, Dubach, O'Boyle, PACT 2014, figure 2): the drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from coarsen.opencl_bench.reporting.figures.axes import FACTOR, factor_axis, mark_one, speedup_axis
from coarsen.opencl_bench.reporting.figures.findings import curves_finding
from coarsen.opencl_bench.reporting.figures.page import legend_entry, page
from coarsen.opencl_bench.reporting.figures.remarks import Remarks, joined, remarks_on
from coarsen.opencl_bench.reporting.figures.style import (
    BAND,
    BLACK,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    series_style,
    styled,
)
from coarsen.opencl_bench.reporting.figures.text import LABEL_SIZE, text_width
from coarsen.opencl_bench.reporting.numbers.curves import By, Choice, curve_points, series_order
from coarsen.opencl_bench.results.rows import comparisons, names_of

MOST_COLUMNS = 5
_PANEL_HEIGHT, _LEAST = 1.5, 1.15
_MARK_HEIGHT = 0.045  # of a line of marks, as a part of the panel
_LINES_OF_MARKS = "Marks of failures: a line for each curve, in the order of the legend."
_UNSURE = "White marks looked faster than the best when they were timed, once; only the best were timed again."
_ALONE = "Each kernel has one configuration at each factor."
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
    remarks = remarks_on(comparisons(frame))
    with styled():
        return _figure(points, by, choice, remarks)


def _figure(points: pd.DataFrame, by: By, choice: Choice, remarks: Remarks) -> Figure:
    kernels = names_of(points, "benchmark")
    curves = sorted(points["series"].unique(), key=series_order)
    columns = columns_for(len(kernels))
    lines = math.ceil(len(kernels) / columns)
    width = PAGE_WIDTH if columns > 2 else 1.6 + 2.2 * columns
    lines_of_marks = _LINES_OF_MARKS if len(curves) > 1 and failure_marks(points) else ""
    unsure = _UNSURE if points["unsure"].any() else ""
    note = joined(
        remarks.intervals, _taken(points, by, choice), remarks.best, unsure, lines_of_marks, remarks.sizes
    )
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
    sheet.label_axes(FACTOR, remarks.axis, height - 0.4)
    return sheet.settled()


def columns_for(kernels: int) -> int:
    """Return the number of panels side by side: as few lines as can be, then as few empty places."""
    choices = range(min(3, kernels), MOST_COLUMNS + 1)
    return min(choices, key=lambda columns: (math.ceil(kernels / columns), -kernels % columns))


def _taken(points: pd.DataFrame, by: By, choice: Choice) -> str:
    return _ALONE if _are_alone(points) else _TAKEN[choice] + _LEFT[by] + "."


def _are_alone(points: pd.DataFrame) -> bool:
    """Return True if there is nothing to choose from at any point."""
    return bool((points[["measured", "failed", "excluded"]].sum(axis=1) <= 1).all())


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
        "none worked": "failed" if _are_alone(points) else "every configuration failed",
        "some failed": "some configurations failed",
        "none allowed": "no configuration is allowed",
    }
    return entries + [
        legend_entry(words[name], color=BLACK, marker=marker, markersize=size, linestyle="none")
        for name, marker, size, _ in failure_marks(points)
    ]
