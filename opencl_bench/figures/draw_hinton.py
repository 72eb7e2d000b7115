"""Where the fastest configurations lie (Magni, Dubach, O'Boyle, PACT 2014, figure 5): the drawing."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .axes import FACTOR
from .findings import hinton_finding
from .hinton import TOP, Against, top_shares, value_order
from .page import page
from .rows import names_of
from .style import BLUE, GREY, LIGHT_GREY, PAGE_WIDTH, styled

COLUMNS = 3
_AXIS_LABEL = {
    "local size": "local size (work-items)",
    "stride": "stride (work-items)",
    "dimension": "dimension",
}
_NOTE = (
    "Filled area and number: share, in per cent, of the fastest {top} of each kernel's configurations. "
    "Grey behind it: share of all measured configurations. Dot: nothing measured. "
    "Local sizes are those before coarsening."
)


def draw_hinton(frame: pd.DataFrame, against: Against = "local size", top: float = TOP) -> Figure:
    """A panel per device: a square at each factor and local size, its area the share of the fastest there.

    Behind it, in grey, is the square of the share of all configurations. A dot stands where none was measured.

    Args:
        frame: the frame of `coarsen.opencl_bench.exchange.frames`.
        against: what the other axis is; see `hinton.top_shares`.
        top: the part of each kernel's configurations that counts as fastest.

    Raises:
        InvalidInputError: there is nothing to draw; see `hinton.top_shares`.
    """
    shares = top_shares(frame, against, top)
    with styled():
        return _figure(shares, against, top)


def _figure(shares: pd.DataFrame, against: Against, top: float) -> Figure:
    devices = names_of(shares, "label")
    factors = sorted(shares["factor"].unique())
    values = sorted(shares["value"].unique(), key=value_order)
    columns = min(COLUMNS, len(devices))
    lines = math.ceil(len(devices) / columns)
    cell = min(0.42, (PAGE_WIDTH - 0.9) / columns / len(factors))
    width = max(4.4, min(PAGE_WIDTH, columns * (cell * len(factors) + 0.25) + 0.8))
    height = max(1.3, lines * (cell * len(values) + 0.45) + 0.3)
    sheet = page(width, height, hinton_finding(shares, against, top), _NOTE.format(top=f"{100 * top:g} %"))
    grid = sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    largest = shares[["share", "expected"]].to_numpy().max()
    for axes, device in zip(grid.flat, devices, strict=False):
        _panel(axes, shares[shares["label"] == device], factors, values, largest)
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
    for axes in list(grid.flat)[len(devices) :]:
        axes.set_axis_off()
    sheet.label_axes(FACTOR, _AXIS_LABEL[against], height - 0.5)
    return sheet.settled()


def _panel(axes: Axes, shares: pd.DataFrame, factors: list[int], values: list[str], largest: float) -> None:
    known = {(row.factor, row.value): (row.share, row.expected) for row in shares.itertuples()}
    for column, factor in enumerate(factors):
        for line, value in enumerate(values):
            if (factor, value) in known:
                share, expected = known[factor, value]
                _square(axes, column, line, expected / largest, facecolor=LIGHT_GREY, gid="expected")
                _share(axes, column, line, share, largest)
            else:
                axes.plot(column, line, ".", color=GREY, markersize=1.5, gid="not measured")
    axes.set_xlim(-0.6, len(factors) - 0.4)
    axes.set_ylim(-0.6, len(values) - 0.4)
    axes.set_aspect("equal")
    axes.set_xticks(range(len(factors)), [str(factor) for factor in factors])
    axes.set_yticks(range(len(values)), [value.replace("none", "uncoarsened") for value in values])
    axes.tick_params(length=0, labelbottom=True)


def _share(axes: Axes, column: int, line: int, share: float, largest: float) -> None:
    if share <= 0:
        return
    _square(axes, column, line, share / largest, facecolor=BLUE, gid="share")
    side = math.sqrt(share / largest)
    inside = side > 0.55
    # A small square has its number below it.
    place = (column, line) if inside else (column, line - side / 2 - 0.03)
    axes.text(
        *place,
        f"{100 * share:.0f}" if share >= 0.005 else "<1",
        color="white" if inside else "black",
        ha="center",
        va="center" if inside else "top",
        fontsize=6 if inside else 5,
    )


def _square(axes: Axes, column: int, line: int, area: float, **look: object) -> None:
    """A square in the middle of a cell that takes a part of it."""
    side = 0.92 * math.sqrt(area)
    axes.add_patch(Rectangle((column - side / 2, line - side / 2), side, side, linewidth=0, **look))
