"""Draws the figures of `index.md` and of `when-it-helps.md` from the sweeps of the package, beside this file.

python docs/images/figures.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from coarsen.opencl_bench import plots, shipped_results
from coarsen.opencl_bench.reporting.sheet import BAND, GREY, GRID, PAGE_WIDTH, series_style, styled

_CLIFFS = ("binarySearch", "reduce", "mvUncoal", "nbody", "blackscholes", "convolution")
_STRIDES = ("dwtHaar1D", "fastWalsh", "reduce", "spmv")
# By the label of a device in the sweeps, in the order of the legend.
_DEVICES = {
    "AMD EPYC (Intel)": "CPU, Intel's runtime",
    "AMD EPYC (PoCL)": "CPU, PoCL",
    "NVIDIA H200 (OpenCL)": "NVIDIA H200",
}
# Sweeps by what their space was, in the order of the panels.
_SPACES = {
    "replication alone,\nalong one dimension": ("intel", "pocl", "h200"),
    "today's transforms, work-groups, two\ndimensions at once, wide accesses": (
        "larger_intel",
        "larger_pocl",
        "larger_h200",
    ),
}
_TICKS = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24)


def main() -> None:
    """Write the three figures."""
    plots.save(draw_gains(), _file("gains.svg"))
    intel = shipped_results("intel").only(benchmarks=_CLIFFS)
    plots.save(plots.draw_curves(intel.frame(), choice="baseline"), _file("intel-cliffs.svg"))
    h200 = shipped_results("h200").only(devices=("opencl 3",), benchmarks=_STRIDES)
    plots.save(plots.draw_curves(h200.frame(), by="stride", choice="baseline"), _file("h200-strides.svg"))


def draw_gains() -> Figure:
    """Return the best speed-up of each kernel on each device in both spaces, the kernel that gains most on top.

    The two spaces were measured by different versions, each over its own baselines: each has a panel of its own.
    """
    tables = [_table(sweeps) for sweeps in _SPACES.values()]
    kernels = list(pd.concat(tables).groupby("benchmark")["speedup"].max().sort_values().index)
    with styled():
        figure = Figure(figsize=(PAGE_WIDTH, 0.22 * len(kernels) + 1.0))
        panels = figure.subplots(1, len(tables), sharex=True, sharey=True)
        for axes, title, table in zip(panels, _SPACES, tables, strict=True):
            _draw_panel(axes, table, kernels)
            axes.set_title(title, loc="left")
        panels[0].set_yticks(range(len(kernels)), kernels)
        figure.supxlabel("speed-up of the best configuration over the best uncoarsened local size", fontsize=7.5)
    return figure


def _table(sweeps: tuple[str, ...]) -> pd.DataFrame:
    table = plots.best_table(shipped_results(*sweeps).frame())
    return table[table["label"].isin(list(_DEVICES))]


def _draw_panel(axes: Axes, table: pd.DataFrame, kernels: list[str]) -> None:
    for row in range(0, len(kernels), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=BAND, zorder=0)
    axes.axvline(1, color=GREY, linewidth=0.8)
    for number, (label, name) in enumerate(_DEVICES.items()):
        rows = table[table["label"] == label].set_index("benchmark")
        look = series_style(number)
        places = [kernels.index(kernel) + 0.25 * (1 - number) for kernel in rows.index]
        axes.hlines(places, 1, rows["speedup"], color=look.colour, linewidth=0.8)
        axes.plot(
            rows["speedup"], places, look.marker, color=look.colour, label=_in_the_legend(name, rows, kernels)
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_ylim(-0.6, len(kernels) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower right", title="in the geometric mean", alignment="left")


def _in_the_legend(name: str, rows: pd.DataFrame, kernels: list[str]) -> str:
    mean = plots.geometric_means(rows.reset_index())["speedup"].iloc[0]
    few = f", of {len(rows)} kernels" if len(rows) < len(kernels) else ""
    return f"{name}: {mean:.2f}{few}"


def _file(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    main()
