"""Drawing of the growth of a kernel's features by coarsening (Magni, Dubach, O'Boyle, PACT 2014, table 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coarsen.features import FeatureTable
from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.style import COLOUR_MAP, PAGE_WIDTH, SMALLEST_SIZE, styled
from coarsen.opencl_bench.reporting.numbers.growth import growth_finding, growth_table

_WIDTH, _HEIGHT = 0.275, 0.2  # of a cell, in inches
_LABELS = 2.0
_NOTE = (
    "Number and shade: how many times its value at factor 1 a feature has at factor {factor}. 1: the replicas "
    "share it, or it is a ratio that stays. {factor}: each replica has its own. More: what finds the replicas' "
    "ids comes on top. Dot: none at factor 1. Kernels from the left: least growth of instructions first. Computed "
    "from the code alone; nothing was run."
)


def draw_growth(tables: Sequence[FeatureTable], factor: int = 8) -> Figure:
    """A heat map: a line per feature, a column per kernel, in each cell how many times its value at factor 1.

    Args:
        tables: one per kernel, such as the `table` of an `Example`; they have the factors 1 and `factor`.
        factor: how many work-items are merged into one.

    Raises:
        InvalidInputError: see `growth_table`.
    """
    table = growth_table(tables, factor)
    with styled():
        return _figure(table, factor)


def _figure(table: pd.DataFrame, factor: int) -> Figure:
    kernels, features = list(dict.fromkeys(table["kernel"])), list(dict.fromkeys(table["feature"]))
    width = max(PAGE_WIDTH * 0.75, _LABELS + _WIDTH * len(kernels))
    sheet = page(width, _HEIGHT * len(features) + 0.9, growth_finding(table, factor), _NOTE.format(factor=factor))
    axes = sheet.figure.subplots()
    for row in table.itertuples():
        _cell(axes, kernels.index(row.kernel), features.index(row.feature), row.growth, factor)
    axes.set_xlim(-0.5, len(kernels) - 0.5)
    axes.set_ylim(len(features) - 0.5, -0.5)
    axes.set_xticks(range(len(kernels)), kernels, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(features)), features)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return sheet.settled()


def _cell(axes: Axes, column: int, line: int, growth: float, factor: int) -> None:
    if math.isnan(growth):
        axes.text(column, line, "·", ha="center", va="center", fontsize=SMALLEST_SIZE, gid="none")
        return
    shade = _shade(growth, factor)
    colour = matplotlib.colormaps[COLOUR_MAP](shade)
    axes.add_patch(Rectangle((column - 0.5, line - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5))
    ink = "black" if shade > 0.5 else "white"
    axes.text(column, line, _number(growth), ha="center", va="center", fontsize=SMALLEST_SIZE, color=ink)


def _shade(growth: float, factor: int) -> float:
    """0 where a feature shrinks to half or less, 1 where it grows with the factor or more, by its logarithm."""
    exponent = math.log2(max(growth, 0.5))
    return float(Normalize(-1.0, max(1.0, math.log2(factor)), clip=True)(exponent))


def _number(growth: float) -> str:
    """With one digit after the point, where it isn't whole and there is room."""
    whole = math.isclose(growth, round(growth), abs_tol=0.05)
    return f"{growth:.0f}" if whole or growth >= 10 else f"{growth:.1f}"
