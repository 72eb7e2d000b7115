"""Drawing of the calibration of probabilities, on kernels held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator

from coarsen.models.evaluation.calibration import Calibration
from coarsen.opencl_bench.reporting.evaluations import calibration_finding, calibration_points
from coarsen.opencl_bench.reporting.sheet import BLACK, GRID, Series, legend_entry, page, series_style, styled

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
