"""Draws the figures of `index.md` and of `when-it-helps.md` from the sweeps of the package, beside this file.

python docs/images/figures.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from coarsen.opencl_bench import plots, shipped_results
from coarsen.opencl_bench.reporting.figures.style import BAND, GREY, GRID, PAGE_WIDTH, series_style, styled

_CLIFFS = ("binarySearch", "reduce", "mvUncoal", "nbody", "blackscholes", "convolution")
_STRIDES = ("dwtHaar1D", "fastWalsh", "reduce", "spmv")
# By the label of a device in the sweeps, in the order of the legend.
_DEVICES = {
    "AMD EPYC (Intel)": "CPU, Intel's runtime",
    "AMD EPYC (PoCL)": "CPU, PoCL",
    "NVIDIA H200 (OpenCL)": "NVIDIA H200",
}
_TICKS = (0.8, 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16)


def main() -> None:
    """Write the three figures."""
    plots.save(draw_gains(), _file("gains.svg"))
    intel = shipped_results("intel").only(benchmarks=_CLIFFS)
    plots.save(plots.draw_curves(intel.frame(), choice="baseline"), _file("intel-cliffs.svg"))
    h200 = shipped_results("h200").only(devices=("opencl 3",), benchmarks=_STRIDES)
    plots.save(plots.draw_curves(h200.frame(), by="stride", choice="baseline"), _file("h200-strides.svg"))


def draw_gains() -> Figure:
    """Return the best speed-up of each kernel on each device, the kernel that gains most on any of them on top."""
    table = plots.best_table(shipped_results("intel", "pocl", "h200").frame())
    table = table[table["label"].isin(list(_DEVICES))]
    kernels = list(table.groupby("benchmark")["speedup"].max().sort_values().index)
    with styled():
        return _drawn(table, kernels)


def _drawn(table: pd.DataFrame, kernels: list[str]) -> Figure:
    figure = Figure(figsize=(PAGE_WIDTH, 0.22 * len(kernels) + 0.9))
    axes = figure.subplots()
    for row in range(0, len(kernels), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=BAND, zorder=0)
    axes.axvline(1, color=GREY, linewidth=0.8)
    for number, (label, name) in enumerate(_DEVICES.items()):
        rows = table[table["label"] == label].set_index("benchmark").loc[kernels]
        mean = plots.geometric_means(table[table["label"] == label])["speedup"].iloc[0]
        look = series_style(number)
        places = [row + 0.25 * (1 - number) for row in range(len(kernels))]
        axes.hlines(places, 1, rows["speedup"], color=look.colour, linewidth=0.8)
        legend = f"{name}: {mean:.2f} in the geometric mean"
        axes.plot(rows["speedup"], places, look.marker, color=look.colour, label=legend)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_yticks(range(len(kernels)), kernels)
    axes.set_ylim(-0.6, len(kernels) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("speed-up of the best configuration over the best uncoarsened local size")
    axes.legend(loc="lower right")
    return figure


def _file(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    main()
