"""Drawing of the cascade's component loadings (Magni, Dubach, O'Boyle, PACT 2014, figure 9)."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import blended_transform_factory

from coarsen.models.cascade.model import Projection
from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.style import BLUE, GRID, PAGE_WIDTH, VERMILLION, styled
from coarsen.opencl_bench.reporting.figures.text import filled
from coarsen.opencl_bench.reporting.numbers.loadings import (
    GROWTH,
    VALUE,
    components_of,
    loading_table,
    loadings_finding,
)

_CELL = 0.195  # inches
_LIST_LINE = 0.145
_LIST_NUMBER, _LIST_TEXT = 0.21, 0.29  # where the list's columns end and begin, from the left edge
_TITLE = {VALUE: "feature at the factor", GROWTH: "its growth to the next factor"}
_NOTE = (
    "Each column is a component after varimax rotation. Area: loading, the correlation of input and component; a "
    "full cell is 1. Blue: positive. Orange frame: negative. Loadings below 0.05 are left out."
)
# A smaller square would be a speck.
_SMALLEST = 0.05


def draw_loadings(projection: Projection) -> Figure:
    """A Hinton diagram of the loadings: a line per feature, a column per component; below, the components' labels.

    Args:
        projection: of a cascade.
    """
    table = loading_table(projection)
    with styled():
        return _figure(table)


def _figure(table: pd.DataFrame) -> Figure:
    components = components_of(table)
    features = list(dict.fromkeys(table["feature"]))
    lines = _list_lines(components)
    panels, text = _CELL * len(features) + 0.55, _LIST_LINE * len(lines) + 0.1
    sheet = page(PAGE_WIDTH, panels + text, loadings_finding(table), _NOTE, least=panels + text)
    grid = sheet.figure.add_gridspec(2, 2, height_ratios=(panels, text))
    left = sheet.figure.add_subplot(grid[0, 0])
    right = sheet.figure.add_subplot(grid[0, 1], sharey=left)
    for axes, kind in ((left, VALUE), (right, GROWTH)):
        _panel(axes, table[table["input"] == kind], features)
        axes.set_title(_TITLE[kind], loc="left", fontweight="bold", pad=4)
    right.tick_params(labelleft=False)
    _list(sheet.figure.add_subplot(grid[1, :]), lines)
    return sheet.settled()


def _panel(axes: Axes, table: pd.DataFrame, features: list[str]) -> None:
    count = int(table["component"].max())
    for row in table.itertuples():
        _square(axes, row.component - 1, features.index(row.feature), row.loading)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(len(features) - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(count), [str(number + 1) for number in range(count)])
    axes.set_yticks(range(len(features)), features)
    axes.set_xticks([number + 0.5 for number in range(count - 1)], minor=True)
    axes.set_yticks([number + 0.5 for number in range(len(features) - 1)], minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.5)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel("component")


def _square(axes: Axes, column: int, line: int, loading: float) -> None:
    if abs(loading) < _SMALLEST:
        return
    side = 0.9 * math.sqrt(abs(loading))
    look = {"facecolor": BLUE, "linewidth": 0} if loading > 0 else {"facecolor": "none", "edgecolor": VERMILLION}
    inset = 0.0 if loading > 0 else 0.05
    corner = column - side / 2 + inset, line - side / 2 + inset
    size = side - 2 * inset
    axes.add_patch(Rectangle(corner, size, size, gid="positive" if loading > 0 else "negative", **look))


def _list_lines(components: pd.DataFrame) -> list[tuple[str, str]]:
    """Number and text of each line of the list; the number is empty where a label goes on."""
    lines: list[tuple[str, str]] = []
    for row in components.itertuples():
        texts = filled(f"{100 * row.share:.0f} %: {row.label}", PAGE_WIDTH - 0.7, 6.8)
        numbers = [str(row.component)] + [""] * (len(texts) - 1)
        lines += zip(numbers, texts, strict=True)
    return lines


def _list(axes: Axes, lines: list[tuple[str, str]]) -> None:
    axes.set_axis_off()
    axes.set_ylim(len(lines), 0)
    # From the left edge of the page, below the names of the features, wherever the axes begin.
    across = blended_transform_factory(axes.figure.transFigure, axes.transData)
    plain = {"va": "center", "fontsize": 6.8, "in_layout": False, "transform": across}
    for place, (number, text) in enumerate(lines):
        axes.text(_LIST_NUMBER / PAGE_WIDTH, place + 0.5, number, ha="right", fontweight="bold", **plain)
        axes.text(_LIST_TEXT / PAGE_WIDTH, place + 0.5, text, **plain)
