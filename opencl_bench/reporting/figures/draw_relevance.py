"""Drawing of the relevance of each of the cascade's components to the decision to coarsen: mutual information."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.style import (
    BLACK,
    BLUE,
    GREY,
    GRID,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    styled,
)
from coarsen.opencl_bench.reporting.figures.text import lines_of, text_width
from coarsen.opencl_bench.reporting.numbers.relevance import relevance_finding

_CELL = 0.36  # inches
_LABELS = 3.6
_FOOT = 1.3  # lines for chance and the number of answers, in cells
_SMALLEST = 0.005  # less would be written as 0
_NAME_SIZE = 6.5
_NOTE = (
    "Area and number: mutual information of the component and the answer to whether the next factor is faster, in "
    "per cent of the answer's entropy. Filled: above chance, which is what the largest component stays below in "
    "95 % of the cases if each kernel's answers are put beside another kernel's components. Frame: not above it. "
    "Answers: of all kernels at all factors that have one. This is no figure of the paper."
)


def draw_relevance(table: pd.DataFrame) -> Figure:
    """A Hinton diagram: a line per component, a column per device; below, what chance gives and how many answers.

    Args:
        table: from `relevance.relevance_table`.
    """
    with styled():
        return _figure(table)


def _figure(table: pd.DataFrame) -> Figure:
    devices = table.drop_duplicates("device").reset_index(drop=True)
    labels = table.drop_duplicates("component").set_index("component")["label"]
    names = devices["device"].tolist()
    width = min(PAGE_WIDTH, max(5.2, _LABELS + _CELL * len(names) + 0.4))
    cell = min(_CELL, (width - _LABELS - 0.4) / len(names))
    sheet = page(width, cell * (len(labels) + _FOOT) + 0.6, relevance_finding(table), _NOTE)
    axes = sheet.figure.subplots()
    largest = max(table["relevance"].max(), 1e-9)
    for row in table.itertuples():
        beyond = row.relevance > row.chance
        _square(axes, (names.index(row.device), row.component - 1), row.relevance, largest, beyond)
    _label(axes, labels)
    _columns(axes, devices, len(labels), cell)
    return sheet.settled()


def _label(axes: Axes, labels: pd.Series) -> None:
    """Name the components, and the two lines of numbers below them."""
    count = len(labels)
    axes.set_ylim(count - 0.5 + _FOOT, -0.5)
    # In a corner of its room: in the middle, the layout would leave too little beside it for the labels.
    axes.set_aspect("equal", anchor="NW")
    texts = [lines_of(f"{number}: {label}", _LABELS - 0.3) for number, label in labels.items()]
    axes.set_yticks([*range(count), *_foot_lines(count)], [*texts, "chance", "answers"])
    axes.set_yticks([number + 0.5 for number in range(count)], minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.5)
    axes.tick_params(which="both", length=0)


def _columns(axes: Axes, devices: pd.DataFrame, components: int, cell: float) -> None:
    names = devices["device"].tolist()
    axes.set_xlim(-0.5, len(names) - 0.5)
    crowded = any(text_width(name, _NAME_SIZE) > 0.9 * cell for name in names)
    slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks(range(len(names)), names, **slant)
    axes.set_xticks([number + 0.5 for number in range(len(names) - 1)], minor=True)
    chance, answers = _foot_lines(components)
    plain = {"ha": "center", "va": "center", "fontsize": SMALLEST_SIZE}
    for column, row in enumerate(devices.itertuples(index=False)):
        axes.text(column, chance, f"{100 * row.chance:.0f}", gid="chance", **plain)
        axes.text(column, answers, str(row.steps), gid="answers", **plain)


def _foot_lines(components: int) -> tuple[float, float]:
    return components - 0.5 + _FOOT / 4, components - 0.5 + 3 * _FOOT / 4


def _square(axes: Axes, cell: tuple[int, int], relevance: float, largest: float, beyond: bool) -> None:
    if relevance < _SMALLEST:
        return
    column, line = cell
    side = 0.92 * math.sqrt(relevance / largest)
    inside = side > 0.42
    look = {"facecolor": BLUE, "linewidth": 0} if beyond else {"facecolor": "none", "edgecolor": GREY}
    corner = column - side / 2, line - side / 2
    axes.add_patch(Rectangle(corner, side, side, gid="beyond chance" if beyond else "chance", **look))
    axes.text(
        column,
        line if inside else line + side / 2 + 0.05,
        f"{100 * relevance:.0f}",
        color="white" if inside and beyond else BLACK,
        ha="center",
        va="center" if inside else "top",
        fontsize=SMALLEST_SIZE,
    )
