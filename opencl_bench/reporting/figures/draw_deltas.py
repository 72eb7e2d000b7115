"""All kernels at all factors by two features (Magni, Dubach, O'Boyle, PACT 2014, figure 11): the drawing."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coarsen.opencl_bench.reporting.figures.page import legend_entry, page
from coarsen.opencl_bench.reporting.figures.style import BLUE, GRID, PAGE_WIDTH, VERMILLION, styled
from coarsen.opencl_bench.reporting.numbers.deltas import deltas_finding

_PANEL_HEIGHT = 2.2
_MOST_COLUMNS = 2
# Points at the same place are drawn one above the other, so far apart at most.
_SPREAD = 0.09
_DOT = {"marker": "o", "color": BLUE, "markersize": 3.6, "markeredgewidth": 0, "alpha": 0.75}
_SQUARE = {
    "marker": "s",
    "color": VERMILLION,
    "markerfacecolor": "none",
    "markersize": 3.8,
    "markeredgewidth": 0.8,
}
_LOOKS = ((True, "the best factor lies beyond the step", _DOT), (False, "it does not", _SQUARE))
_BELOW = "change of the instructions in the step (Delta TotInsts)"
_BESIDE = "change of the divergent regions in the step (Delta DivRegions)"
_NOTE = (
    "A point for each kernel and each step from a factor to its double. Changes are relative: (after − before) / "
    "before, and after where before is 0. Points at the same height are spread a little."
)


def draw_deltas(table: pd.DataFrame) -> Figure:
    """A panel per device: the change of the divergent regions against that of the instructions, dots and squares.

    Args:
        table: from `deltas.delta_table`.
    """
    with styled():
        return _figure(table)


def _figure(table: pd.DataFrame) -> Figure:
    devices = list(dict.fromkeys(table["device"]))
    columns = min(_MOST_COLUMNS, len(devices))
    lines = math.ceil(len(devices) / columns)
    entries = [legend_entry(name, linestyle="none", **look) for _, name, look in _LOOKS]
    width = PAGE_WIDTH if columns > 1 else 4.6
    sheet = page(width, _PANEL_HEIGHT * lines + 0.4, deltas_finding(table), _NOTE, entries)
    panels = list(sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, device in zip(panels, devices, strict=False):
        _panel(axes, table[table["device"] == device])
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
    for axes in panels[len(devices) :]:
        axes.set_axis_off()
    sheet.label_axes(_BELOW, _BESIDE, _PANEL_HEIGHT * lines)
    return sheet.settled()


def _panel(axes: Axes, points: pd.DataFrame) -> None:
    heights = points["divergent_regions"].to_numpy(np.float64) + _offsets(points)
    for further, _, look in _LOOKS:
        chosen = (points["further"] == further).to_numpy()
        axes.plot(
            points["instructions"].to_numpy(np.float64)[chosen],
            heights[chosen],
            linestyle="none",
            gid="dots" if further else "squares",
            **look,
        )
    axes.grid(color=GRID, linewidth=0.5)


def _offsets(points: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Offsets within the spread, the same in every run, neighbours far from each other (golden ratio)."""
    return np.asarray(2 * _SPREAD * ((np.arange(len(points)) * 0.6180339887) % 1.0 - 0.5), np.float64)
