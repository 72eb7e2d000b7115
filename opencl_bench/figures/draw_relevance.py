"""How much each of the cascade's components says about the decision to coarsen (after Magni, Dubach, O'Boyle, PACT
2014, figure 11): the drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .page import page
from .relevance import relevance_finding
from .style import BLUE, GREY, GRID, PAGE_WIDTH, styled
from .text import lines_of

_CELL = 0.36  # inches
_LABELS = 3.6
_NOTE = (
    "Area and number: mutual information of the component and the answer to whether the next factor is faster, in "
    "per cent of the answer's entropy, over all steps of all kernels that have an answer (n, below each device). "
    "Grey: not above what the largest component comes to, in 95 % of the cases, if each kernel's answers are put "
    "beside another kernel's components. After figure 11 of the paper."
)


def draw_relevance(table: pd.DataFrame) -> Figure:
    """A Hinton diagram: a line per component, a column per device.

    Args:
        table: from `relevance.relevance_table`.
    """
    with styled():
        return _figure(table)


def _figure(table: pd.DataFrame) -> Figure:
    devices = list(dict.fromkeys(table["device"]))
    labels = table.drop_duplicates("component").set_index("component")["label"]
    width = min(PAGE_WIDTH, max(5.2, _LABELS + _CELL * len(devices) + 0.4))
    sheet = page(width, _CELL * len(labels) + 0.5, relevance_finding(table), _NOTE)
    axes = sheet.figure.subplots()
    largest = max(table["relevance"].max(), 1e-9)
    for row in table.itertuples():
        colour = BLUE if row.relevance > row.chance else GREY
        _square(axes, devices.index(row.device), row.component - 1, row.relevance, largest, colour)
    _label(axes, devices, labels, table.drop_duplicates("device")["steps"].tolist())
    return sheet.settled()


def _label(axes: Axes, devices: Sequence[str], labels: pd.Series, steps: Sequence[int]) -> None:
    axes.set_xlim(-0.5, len(devices) - 0.5)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_aspect("equal")
    names = [f"{device}\nn = {count}" for device, count in zip(devices, steps, strict=True)]
    axes.set_xticks(range(len(devices)), names)
    texts = [lines_of(f"{number}: {label}", _LABELS - 0.3) for number, label in labels.items()]
    axes.set_yticks(range(len(labels)), texts)
    axes.set_xticks([number + 0.5 for number in range(len(devices) - 1)], minor=True)
    axes.set_yticks([number + 0.5 for number in range(len(labels) - 1)], minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.5)
    axes.tick_params(which="both", length=0)


def _square(axes: Axes, column: int, line: int, relevance: float, largest: float, colour: str) -> None:
    if relevance < 0.005:
        return
    side = 0.92 * math.sqrt(relevance / largest)
    inside = side > 0.5
    axes.add_patch(Rectangle((column - side / 2, line - side / 2), side, side, linewidth=0, facecolor=colour))
    axes.text(
        column,
        line if inside else line + side / 2 + 0.02,
        f"{100 * relevance:.0f}",
        color="white" if inside else "black",
        ha="center",
        va="center" if inside else "top",
        fontsize=6 if inside else 5,
    )
