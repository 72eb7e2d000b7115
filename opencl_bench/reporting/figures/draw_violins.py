"""The speed-ups of all configurations of each kernel (Magni et al., PACT 2014, figure 4): the drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from coarsen.opencl_bench.reporting.figures.axes import mark_one, speedup_axis
from coarsen.opencl_bench.reporting.figures.findings import violins_finding
from coarsen.opencl_bench.reporting.figures.page import legend_entry, page
from coarsen.opencl_bench.reporting.figures.remarks import Remarks, joined, remarks_on
from coarsen.opencl_bench.reporting.figures.style import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    VERMILLION,
    styled,
)
from coarsen.opencl_bench.reporting.numbers.violins import SMALLEST_VIOLIN, density, quartiles, violin_points
from coarsen.opencl_bench.results.rows import comparisons, names_of, outcome_counts

_HALF_WIDTH = 0.42
_PANEL_HEIGHT = 2.3
_LEAST_WIDTH = 1.6  # for the name of a device
_POINTS = "Each point is one configuration of the kernel{outline}."
_ALL = "all"
_TOGETHER = (
    "Last column: all kernels together, each configuration once; the bar is the middle half, the white dot, and "
    "the number below, the median."
)
_FASTER = "Faster: the whole 95 % interval lies above 1."
_ALL_OUTLINED = "; the outline shows how densely they lie"
_SOME_OUTLINED = _ALL_OUTLINED + f", where there are at least {SMALLEST_VIOLIN} different ones"
_EDGE = {"markeredgecolor": "black", "markeredgewidth": 0.6}
_MARKS = (
    ("best", {"marker": "*", "markersize": 8, "color": VERMILLION, **_EDGE}),
    ("baseline", {"marker": "D", "markersize": 4.2, "color": "white", **_EDGE}),
)


def draw_violins(frame: pd.DataFrame) -> Figure:
    """A panel per device with a violin per kernel: every configuration is a point; best and baseline are marked.

    Where there are several kernels, the last column is of all of them together: each configuration counts once.

    Under each kernel stands how many of its configurations failed. Those outside the constraints were never run
    and are not counted.

    Args:
        frame: of `Results.frame`, or of `curve_frame`.

    Raises:
        InvalidInputError: there is nothing to draw; see `violin_points`.
    """
    points, rows = violin_points(frame), comparisons(frame)
    with styled():
        return _figure(points, outcome_counts(rows), remarks_on(rows))


def _figure(points: pd.DataFrame, counts: pd.DataFrame, remarks: Remarks) -> Figure:
    cases = counts.reset_index()
    devices, kernels = names_of(cases, "label"), names_of(cases, "benchmark")
    columns = _columns(len(devices), len(kernels))
    lines = math.ceil(len(devices) / columns)
    # More kernels than about twenty need more than a page.
    names = [*kernels, _ALL] if len(kernels) > 1 else kernels
    width = max(min(PAGE_WIDTH, columns * (2.6 + 0.4 * len(names))), 0.3 * len(names))
    height = _PANEL_HEIGHT * lines + 0.9
    faster = _FASTER if points["low"].notna().any() else ""
    together = _TOGETHER if len(kernels) > 1 else ""
    note = joined(_POINTS.format(outline=_outline(points)), together, faster, remarks.best, remarks.sizes)
    sheet = page(width, height, violins_finding(points), note, _legend(bool(counts["failed"].any())))
    panels = list(sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, device in zip(panels, devices, strict=False):
        own = points[points["label"] == device]
        size = 2.8 if len(kernels) > 6 and len(own) > SMALLEST_VIOLIN * len(kernels) else 4.5
        for position, kernel in enumerate(kernels):
            _kernel(axes, position, own[own["benchmark"] == kernel], size)
        if len(kernels) > 1:
            _aggregate(axes, len(kernels), own)
        speedup_axis(axes, points["speedup"], room_below=0.07, ticks=9)
        mark_one(axes)
        _failures(axes, kernels, counts.loc[device])
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
    for axes in panels[len(devices) :]:
        axes.set_axis_off()
    _name_kernels(panels[: len(devices)], names, columns)
    sheet.label_axes("", remarks.axis, height - 0.8)
    return sheet.settled()


def _columns(devices: int, kernels: int) -> int:
    """Panels go side by side where kernels are few."""
    return max(1, min(devices, int(PAGE_WIDTH / max(_LEAST_WIDTH, 0.7 + 0.4 * kernels))))


def _name_kernels(panels: Sequence[Axes], kernels: Sequence[str], columns: int) -> None:
    """The kernels' names under the lowest panel of each column."""
    slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if len(kernels) > 4 else {}
    for position, axes in enumerate(panels):
        axes.set_xlim(-0.6, len(kernels) - 0.4)
        axes.set_xticks(range(len(kernels)), kernels, **slanted)
        axes.tick_params(labelbottom=position + columns >= len(panels))


def _outline(points: pd.DataFrame) -> str:
    """Describe the outlines in the note: nothing where no kernel has points enough for one."""
    different = points.groupby(["label", "benchmark"])["speedup"].nunique()
    if (different < SMALLEST_VIOLIN).all():
        return ""
    return _SOME_OUTLINED if (different < SMALLEST_VIOLIN).any() else _ALL_OUTLINED


def _kernel(axes: Axes, position: int, points: pd.DataFrame, size: float) -> None:
    if points.empty:
        return
    plain = points[points["mark"] == ""]
    logarithms = np.log2(points.drop_duplicates("configuration")["speedup"].to_numpy(np.float64))
    widths = _violin(axes, position, logarithms)
    values = plain["speedup"].to_numpy(np.float64)
    offsets = _spread(len(values)) * np.interp(np.log2(values), *widths)
    axes.plot(
        position + offsets, values, ".", color=BLUE, markersize=size, markeredgewidth=0, gid="configurations"
    )
    for name, look in _MARKS:
        marked = points[points["mark"] == name]
        # The baseline's diamond is drawn over a star at the same place, and is smaller.
        axes.plot([position] * len(marked), marked["speedup"], linestyle="none", gid=name, zorder=4, **look)


def _aggregate(axes: Axes, position: int, points: pd.DataFrame) -> None:
    """All kernels of a device together: their outline, the middle half of all configurations, and the median."""
    once = points.drop_duplicates(["benchmark", "configuration"])["speedup"].to_numpy(np.float64)
    axes.axvline(position - 0.5, color=GREY, linewidth=0.5)
    if not len(once):
        return
    _violin(axes, position, np.log2(once))
    low, middle, high = quartiles(once)
    axes.plot([position, position], [low, high], color=BLACK, linewidth=3.0, solid_capstyle="butt", gid="half")
    axes.plot([position], [middle], "o", color="white", markersize=3.2, gid="median", zorder=4, **_EDGE)
    foot = axes.get_xaxis_transform()
    axes.text(
        position,
        0.012,
        f"{middle:.2f}",
        transform=foot,
        ha="center",
        va="bottom",
        fontsize=SMALLEST_SIZE,
        gid="median number",
    )


def _violin(
    axes: Axes, position: int, logarithms: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Draw the outline where there are enough different values; where it is how wide, for the points in it."""
    low, high = logarithms.min(), logarithms.max()
    if len(np.unique(logarithms)) < SMALLEST_VIOLIN:
        return np.array([low, high + 1e-9]), np.array([0.3, 0.3])
    levels = np.linspace(low, high, 120)
    widths = _HALF_WIDTH * density(logarithms, levels)
    axes.fill_betweenx(
        2.0**levels,
        position - widths,
        position + widths,
        facecolor=LIGHT_GREY,
        edgecolor=GREY,
        alpha=0.75,
        linewidth=0.5,
        gid="violin",
    )
    return levels, widths


def _spread(count: int) -> npt.NDArray[np.float64]:
    """Return offsets in [-0.8, 0.8], the same in every run, neighbours far from each other (golden ratio)."""
    return np.asarray(1.6 * ((np.arange(count) * 0.6180339887) % 1.0 - 0.5), np.float64)


def _failures(axes: Axes, kernels: Sequence[str], counts: pd.DataFrame) -> None:
    """The number of failed configurations at the bottom of the panel; a kernel without any point says so."""
    for position, kernel in enumerate(kernels):
        count = counts.loc[kernel] if kernel in counts.index else None
        text = "not\nrun" if count is None or count["configurations"] == count["excluded"] else ""
        if count is not None and count["failed"]:
            text = f"×{count['failed']}"
            text += "\nall" if not count["measured"] else ""
        if text:
            place = axes.get_xaxis_transform()
            axes.text(
                position,
                0.012,
                text,
                transform=place,
                ha="center",
                va="bottom",
                fontsize=SMALLEST_SIZE,
                gid="failed",
            )


def _legend(any_failed: bool) -> list[Line2D]:
    entries = [
        legend_entry("configuration", color=BLUE, marker=".", markersize=5, markeredgewidth=0, linestyle="none"),
        *(legend_entry(name, linestyle="none", **look) for name, look in _MARKS),
    ]
    if any_failed:
        look = {"marker": _times_three(), "markersize": 9, "markeredgewidth": 0, "color": "black"}
        entries.append(legend_entry("failed configurations", linestyle="none", **look))
    return entries


def _times_three() -> Path:
    """The sign ×3 as a marker's outline, around its middle."""
    outline = TextPath((0, 0), "×3", size=10, prop=FontProperties(family="DejaVu Sans"))
    box = outline.get_extents()
    return Path(outline.vertices - (box.p0 + box.p1) / 2, outline.codes)
