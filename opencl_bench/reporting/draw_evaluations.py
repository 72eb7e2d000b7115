"""The speed-ups of predicted factors on kernels held out (Magni, Dubach, O'Boyle, PACT 2014, figure 10): the
drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator

from coarsen.models.evaluation.calibration import Calibration
from coarsen.models.evaluation.entrants import ORACLE
from coarsen.opencl_bench.reporting.evaluations import (
    MEAN,
    calibration_finding,
    calibration_points,
    method_means,
    predictions_finding,
    speedup_bars,
)
from coarsen.opencl_bench.reporting.sheet import (
    BLACK,
    GREEN,
    GRID,
    LIGHT_GREY,
    ORANGE,
    PAGE_WIDTH,
    PURPLE,
    SKY,
    VERMILLION,
    Series,
    legend_entry,
    mark_one,
    page,
    series_style,
    speedup_axis,
    styled,
)

# How the bars of each method look.
Looks = Mapping[str, Mapping[str, object]]

_PANEL_HEIGHT = 1.9
_GROUP = 0.8  # of the room for a kernel
_YLABEL = "speed-up over the uncoarsened kernel"
_LOOKS = {
    "unique": {"facecolor": LIGHT_GREY},
    "published": {"facecolor": PURPLE, "hatch": "xxxx"},
    "cascade": {"facecolor": VERMILLION, "hatch": "////"},
    ORACLE: {"facecolor": "white", "edgecolor": BLACK},
}
_OTHERS = (
    {"facecolor": GREEN, "hatch": "...."},
    {"facecolor": ORANGE, "hatch": "\\\\\\\\"},
    {"facecolor": SKY, "hatch": "++++"},
)
_MEANS_SIZE = 6.8
_BAR_NOTE = (
    "Each bar: the speed-up of the factor that was chosen with the kernel and its family held out, the geometric "
    "mean over seeds; a factor that can't run counts as the next smaller one that can. No bar: a speed-up of 1. "
    "Lines: lowest and highest over seeds. Oracle: the best factor, known afterwards."
)


def draw_predictions(choices: pd.DataFrame) -> Figure:
    """A panel per device: for each kernel a bar per method, and on the right the geometric means.

    Args:
        choices: from `predictions.choice_table`; devices without runtimes are left out.

    Raises:
        InvalidInputError: no runtimes are known.
    """
    bars = speedup_bars(choices)
    with styled():
        return _bars(bars)


def _bars(bars: pd.DataFrame) -> Figure:
    devices = list(dict.fromkeys(bars["device"]))
    looks = _looks(list(dict.fromkeys(bars["method"])))
    kernels = [*sorted(set(bars["kernel"]) - {MEAN}, key=str.casefold), MEAN]
    width = max(PAGE_WIDTH, 0.36 * len(kernels))
    height = _PANEL_HEIGHT * len(devices) + 0.7
    entries = [Patch(label=name, **look) for name, look in looks.items()]
    sheet = page(width, height, predictions_finding(bars), _BAR_NOTE, entries, least=1.3 * len(devices) + 0.7)
    panels = sheet.figure.subplots(len(devices), 1, sharex=True, squeeze=False)[:, 0]
    for axes, device in zip(panels, devices, strict=True):
        own = bars[bars["device"] == device]
        _panel(axes, own, looks, kernels)
        speedup_axis(axes, [*own["speedup"], *own["low"], *own["high"]], ticks=7)
        mark_one(axes)
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
        axes.set_title(_means(method_means(own)[device], looks), loc="right", fontsize=_MEANS_SIZE, pad=4)
    panels[-1].set_xticks(range(len(kernels)), kernels, rotation=40, ha="right", rotation_mode="anchor")
    panels[-1].get_xticklabels()[-1].set_fontweight("bold")
    sheet.label_axes("", _YLABEL, height - 0.7)
    return sheet.settled()


def _panel(axes: Axes, bars: pd.DataFrame, looks: Looks, kernels: list[str]) -> None:
    breadth = _GROUP / len(looks)
    for index, (method, look) in enumerate(looks.items()):
        own = bars[bars["method"] == method].set_index("kernel").reindex(kernels)
        places = np.arange(len(kernels)) + breadth * (index - (len(looks) - 1) / 2)
        # From 1 up, or down: what is drawn is the gain or the loss.
        axes.bar(places, own["speedup"] - 1, breadth, bottom=1, zorder=2, gid=f"bars {method}", **look)
        spread = own["high"] > own["low"] * 1.001
        axes.vlines(
            places[spread],
            own["low"][spread],
            own["high"][spread],
            color=BLACK,
            linewidth=0.9,
            zorder=3,
            gid="seeds",
        )
    axes.axvline(len(kernels) - 1.5, color=BLACK, linewidth=0.6, linestyle=":")
    axes.set_xlim(-0.6, len(kernels) - 0.4)
    axes.tick_params(axis="x", length=0)


def _looks(methods: Sequence[str]) -> Looks:
    """Return the look of each method's bars, in the order in which they are drawn; the oracle comes last."""
    others = [name for name in methods if name not in _LOOKS]
    known = {name: look for name, look in _LOOKS.items() if name in methods and name != ORACLE}
    known |= {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(others)}
    known |= {ORACLE: _LOOKS[ORACLE]} if ORACLE in methods else {}
    return {name: {"edgecolor": BLACK, "linewidth": 0.4, **look} for name, look in known.items()}


def _means(means: Mapping[str, float], looks: Looks) -> str:
    return "geometric means: " + ", ".join(f"{name} {means[name]:.2f}" for name in looks if name in means)


_WIDTH, _HEIGHT = 4.6, 4.9
# The looks of these, by number, have the colours and hatches that they have in `draw_predictions`.
_NUMBERS = {"default": 0, "cascade": 1}
# Of the bars, which have no markers and lines to be told apart by; by number as well.
_HATCHES = ("", "////", "....", "xxxx", "++++", "\\\\\\\\", "oooo")
_NOTE = (
    "Each point: the steps f to 2f of one bin of probabilities, at their mean. Bars: Wilson intervals of 95 %, "
    "which take steps for independent. Dashed diagonal: probabilities that mean what they say. Below: how many "
    "steps, side by side in the order of the legend."
)


def draw_calibration(calibrations: Mapping[str, Calibration]) -> Figure:
    """The share of steps that helped against the probability that they would, and below how many steps there are.

    Args:
        calibrations: by method, of which there is a curve each.

    Raises:
        InvalidInputError: there are none.
    """
    points = calibration_points(calibrations)
    with styled():
        return _figure(points, calibration_finding(calibrations))


def _figure(points: pd.DataFrame, finding: str) -> Figure:
    numbers = _numbers_of(list(dict.fromkeys(points["method"])))
    looks = {name: series_style(number) for name, number in numbers.items()}
    entries = [
        legend_entry(name, color=look.colour, marker=look.marker, linestyle=look.line)
        for name, look in looks.items()
    ]
    sheet = page(_WIDTH, _HEIGHT, finding, _NOTE, entries)
    above, below = sheet.figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    _reliability(above, points, looks)
    _counts(below, points, numbers)
    return sheet.settled()


def _numbers_of(methods: Sequence[str]) -> dict[str, int]:
    """Return the number of each method's look."""
    others = [name for name in methods if name not in _NUMBERS]
    numbers = {**_NUMBERS, **{name: len(_NUMBERS) + index for index, name in enumerate(others)}}
    return {name: numbers[name] for name in methods}


def _reliability(axes: Axes, points: pd.DataFrame, looks: Mapping[str, Series]) -> None:
    axes.plot([0, 1], [0, 1], color=BLACK, linewidth=0.7, linestyle="--", zorder=1, gid="ideal")
    for name, look in looks.items():
        own = points[points["method"] == name]
        bars = [own["helped"] - own["interval_low"], own["interval_high"] - own["helped"]]
        axes.errorbar(
            own["mean_probability"],
            own["helped"],
            yerr=[bar.clip(lower=0) for bar in bars],
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            elinewidth=0.9,
            capsize=1.4,
            gid=f"curve {name}",
        )
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("share of steps that helped")
    axes.yaxis.set_major_formatter(FuncFormatter(_per_cent))
    axes.grid(color=GRID, linewidth=0.5)


def _counts(axes: Axes, points: pd.DataFrame, numbers: Mapping[str, int]) -> None:
    for index, (name, number) in enumerate(numbers.items()):
        own = points[points["method"] == name]
        width = (own["high"] - own["low"]) * 0.84 / len(numbers)
        left = own["low"] + 0.08 * (own["high"] - own["low"]) + index * width
        axes.bar(
            left,
            own["steps"],
            width,
            align="edge",
            facecolor=series_style(number).colour,
            edgecolor=BLACK,
            linewidth=0.4,
            hatch=_HATCHES[number % len(_HATCHES)],
            gid=f"steps {name}",
        )
    axes.set_ylabel("steps")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("probability that the step helps")
    axes.xaxis.set_major_locator(MultipleLocator(0.2))
    axes.xaxis.set_major_formatter(FuncFormatter(_per_cent))


def _per_cent(value: float, _position: int | None = None) -> str:
    return f"{100 * value:.0f} %"
