"""Drawing of the best factors of curves: a Hinton diagram of factors against devices."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.figure import Figure

from coarsen.features import FACTORS
from coarsen.opencl_bench.reporting.figures.draw_hinton import (
    LARGEST_CELL,
    Cell,
    Grid,
    draw_panel,
    label_factors,
    make_square,
)
from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.style import styled
from coarsen.opencl_bench.reporting.numbers.best_factors import best_factor_shares, best_factors_finding
from coarsen.opencl_bench.results.curves import Curve

_WIDTH = 5.0
_NOTE = (
    "Number: how many of a device's curves have their best factor there; filled area: what part of them. "
    "Dot: of none. A curve is a kernel's along one dimension."
)


def draw_best_factors(curves: Iterable[Curve]) -> Figure:
    """A square for each device and factor, its area the part of the device's curves that it is the best of.

    Args:
        curves: of any devices, with speed-ups or with best factors alone (`read_curves` of `models.PUBLISHED`).

    Raises:
        InvalidInputError: there are no curves.
    """
    shares = best_factor_shares(curves)
    with styled():
        return _figure(shares)


def _figure(shares: pd.DataFrame) -> Figure:
    devices = list(shares["label"].unique())
    counts = shares.groupby("label")["curves"].sum()
    names = {device: f"{device} ({counts[device]})" for device in devices}
    factors = sorted({*FACTORS, *shares["factor"]})
    grid = Grid(factors, [names[device] for device in reversed(devices)], LARGEST_CELL)
    sheet = page(_WIDTH, LARGEST_CELL * len(devices) + 0.6, best_factors_finding(shares), _NOTE)
    axes = sheet.figure.subplots()
    largest = shares["share"].max()
    cells = {
        (row.factor, names[row.label]): Cell(row.share / largest, 0.0, str(row.curves))
        for row in shares.itertuples()
    }
    draw_panel(axes, cells, grid)
    axes.set_ylabel("device (number of curves)")
    label_factors(axes, grid)
    return make_square(sheet.settled())
