"""Drawing of the fastest configurations' places (Magni, Dubach, O'Boyle, PACT 2014, figure 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coarsen.opencl_bench.reporting.figures.axes import FACTOR, SHORT_FACTOR
from coarsen.opencl_bench.reporting.figures.findings import hinton_finding
from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.remarks import joined, remarks_on
from coarsen.opencl_bench.reporting.figures.style import (
    BLUE,
    GREY,
    LIGHT_GREY,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    styled,
)
from coarsen.opencl_bench.reporting.figures.text import LABEL_SIZE, text_width
from coarsen.opencl_bench.reporting.numbers.hinton import TOP, Against, top_shares, value_order
from coarsen.opencl_bench.results.rows import comparisons, names_of

MOST_COLUMNS = 3
LARGEST_CELL = 0.42  # inches
_KERNEL_CELL = 0.26  # of a line for each kernel
_AXIS_LABEL = {
    "local size": "local size (work-items)",
    "stride": "stride (work-items)",
    "dimension": "dimension",
    "benchmark": "kernel",
}
_NOTE = (
    "Filled area and number: share, in per cent, of the fastest {top} of each kernel's configurations. "
    "Grey behind it: share of all measured configurations. Dot: nothing measured."
)
_LOCAL_SIZES = "Local sizes are those before coarsening."


@dataclass(frozen=True, slots=True)
class Cell:
    """The drawing at a factor and a value: the areas of its squares, the largest of all being 1, and a text."""

    area: float
    behind: float
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """The axes of a panel: the factors, the values from below, and a cell's side in inches."""

    factors: Sequence[int]
    values: Sequence[str]
    cell: float


def draw_hinton(frame: pd.DataFrame, against: Against = "local size", top: float = TOP) -> Figure:
    """A panel per device: a square at each factor and local size, its area the share of the fastest there.

    Against "benchmark" it is a square for each kernel and factor, as in the paper.

    Behind it, in grey, is the square of the share of all configurations. A dot stands where none was measured.

    Args:
        frame: of `Results.frame`, or of `curve_frame`.
        against: what the other axis is; see `top_shares`.
        top: the part of each kernel's configurations that counts as fastest.

    Raises:
        InvalidInputError: there is nothing to draw; see `top_shares`.
    """
    shares = top_shares(frame, against, top)
    local_sizes = _LOCAL_SIZES if against == "local size" else ""
    note = joined(_NOTE.format(top=f"{100 * top:g} %"), local_sizes, remarks_on(comparisons(frame)).sizes)
    with styled():
        return _figure(shares, against, hinton_finding(shares, against, top), note)


def _figure(shares: pd.DataFrame, against: Against, finding: str, note: str) -> Figure:
    devices = names_of(shares, "label")
    factors = sorted(shares["factor"].unique())
    if against == "benchmark":
        # From the bottom up, so that the first is at the top.
        values = sorted(shares["value"].unique(), key=str.casefold, reverse=True)
    else:
        values = sorted(shares["value"].unique(), key=value_order)
    # Four make a square.
    columns = 2 if len(devices) == 4 else min(MOST_COLUMNS, len(devices))
    lines = math.ceil(len(devices) / columns)
    largest_cell = _KERNEL_CELL if against == "benchmark" else LARGEST_CELL
    grid = Grid(factors, values, min(largest_cell, (PAGE_WIDTH - 0.9) / columns / len(factors)))
    width = max(4.4, min(PAGE_WIDTH, columns * (grid.cell * len(factors) + 0.25) + 0.9))
    height = max(1.3, lines * (grid.cell * len(values) + 0.6) + 0.2)
    sheet = page(width, height, finding, note)
    panels = sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    largest = shares[["share", "expected"]].to_numpy().max()
    for axes, device in zip(panels.flat, devices, strict=False):
        draw_panel(axes, _cells(shares[shares["label"] == device], largest), grid)
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
    for axes in list(panels.flat)[len(devices) :]:
        axes.set_axis_off()
    for axes in panels[:, 0]:
        axes.set_ylabel(_AXIS_LABEL[against])
    for axes in list(panels.flat)[max(0, len(devices) - columns) : len(devices)]:
        label_factors(axes, grid)
    return make_square(sheet.settled())


def make_square(figure: Figure) -> Figure:
    """Give the panels square cells within their places, which the solver of the layout can't do itself."""
    for axes in figure.axes:
        axes.set_aspect("equal", anchor="W")
    return figure


def _cells(shares: pd.DataFrame, largest: float) -> dict[tuple[int, str], Cell]:
    return {
        (row.factor, row.value): Cell(row.share / largest, row.expected / largest, _share_text(row.share))
        for row in shares.itertuples()
    }


def _share_text(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.005 else "<1"


def draw_panel(axes: Axes, cells: Mapping[tuple[int, str], Cell], grid: Grid) -> None:
    """Draw squares where there are cells and dots elsewhere.

    Args:
        axes: of the panel.
        cells: by factor and value.
        grid: the axes.
    """
    for column, factor in enumerate(grid.factors):
        for line, value in enumerate(grid.values):
            if (factor, value) in cells:
                _draw_cell(axes, column, line, cells[factor, value], grid.cell)
            else:
                axes.plot(column, line, ".", color=GREY, markersize=1.5, gid="not measured")
    axes.set_xlim(-0.6, len(grid.factors) - 0.4)
    axes.set_ylim(-0.6, len(grid.values) - 0.4)
    axes.set_xticks(range(len(grid.factors)), [str(factor) for factor in grid.factors])
    axes.set_yticks(range(len(grid.values)), [value.replace("none", "uncoarsened") for value in grid.values])
    axes.tick_params(length=0, labelbottom=True)


def label_factors(axes: Axes, grid: Grid) -> None:
    """Name the x axis, in few words where it is short."""
    fits = text_width(FACTOR, LABEL_SIZE) <= grid.cell * len(grid.factors)
    axes.set_xlabel(FACTOR if fits else SHORT_FACTOR)


def _draw_cell(axes: Axes, column: int, line: int, cell: Cell, inches: float) -> None:
    if cell.behind > 0:
        _square(axes, column, line, cell.behind, facecolor=LIGHT_GREY, gid="expected")
    if cell.area <= 0:
        return
    side = _square(axes, column, line, cell.area, facecolor=BLUE, gid="share")
    inside = text_width(cell.text, SMALLEST_SIZE) + 0.03 <= side * inches
    # A small square has its number below it.
    axes.text(
        column,
        line if inside else line - side / 2 - 0.02,
        cell.text,
        color="white" if inside else "black",
        ha="center",
        va="center_baseline" if inside else "top",
        fontsize=SMALLEST_SIZE,
    )


def _square(axes: Axes, column: int, line: int, area: float, **look: object) -> float:
    """A square in the middle of a cell that takes a part of it; its side, of a cell's."""
    side = 0.92 * math.sqrt(area)
    axes.add_patch(Rectangle((column - side / 2, line - side / 2), side, side, linewidth=0, **look))
    return side
