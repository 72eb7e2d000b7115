"""Drawing of time over the input: a curve for each version, the chosen one marked, break-even points as bands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.opencl_bench.reporting.figures.page import legend_entry, page
from coarsen.opencl_bench.reporting.figures.style import (
    BAND,
    BLACK,
    GREY,
    GRID,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    Series,
    series_style,
    styled,
)
from coarsen.opencl_bench.reporting.numbers.input_times import InputTimes, input_times

_HEIGHT = 2.6
_RING = 8.0  # about a marker, in points
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_NOTE = (
    "Each point is an input, of several with the same {feature} their geometric mean. Ring: the version that the "
    "tree chooses there; none where it chooses several by other features. Grey band: between its ends the fastest "
    "version changes; at the ends it is known, by more than noise."
)


def draw_input_times(file: TunedFile, feature: str | None = None) -> Figure:
    """Time over a feature of the input, a curve for each version of a tuned file.

    Args:
        file: keeps the times of its tuning.
        feature: along which the inputs are; see `input_times`.

    Raises:
        InvalidInputError: see `input_times`.
    """
    times = input_times(file, feature)
    with styled():
        return _figure(times)


def _figure(times: InputTimes) -> Figure:
    looks = {number: series_style(number) for number in times.seconds}
    note = _NOTE.format(feature=times.feature)
    sheet = page(PAGE_WIDTH, _HEIGHT, _finding(times), note, [*_entries(times, looks)])
    axes = sheet.figure.subplots()
    _scales(axes, times)
    for number, seconds in times.seconds.items():
        look = looks[number]
        axes.plot(
            times.values,
            seconds,
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            gid=f"version-{number}",
        )
    _mark_chosen(axes, times)
    _mark_break_evens(axes, times)
    sheet.label_axes(times.feature, "time of a launch", _HEIGHT - 0.4)
    return sheet.settled()


def _finding(times: InputTimes) -> str:
    chosen = len({each for each in times.chosen if each is not None})
    if chosen <= 1:
        return f"{times.kernel} is fastest in one version at every {times.feature} ({times.device})"
    return f"{times.kernel} is fastest in {chosen} versions, by {times.feature} ({times.device})"


def _entries(times: InputTimes, looks: Mapping[int, Series]) -> Iterator[Line2D]:
    for number, label in times.labels.items():
        look = looks[number]
        yield legend_entry(f"{number}: {label}", color=look.colour, marker=look.marker, linestyle=look.line)
    yield legend_entry("chosen", linestyle="", marker="o", markersize=_RING, **_ring())


def _ring() -> dict[str, object]:
    return {"markerfacecolor": "none", "markeredgecolor": BLACK, "markeredgewidth": 0.8}


def _scales(axes: Axes, times: InputTimes) -> None:
    if min(times.values) > 0:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: _duration(seconds)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=GRID, linewidth=0.5)


def _mark_chosen(axes: Axes, times: InputTimes) -> None:
    places = [
        (value, number) for value, number in zip(times.values, times.chosen, strict=True) if number is not None
    ]
    of_value = {value: place for place, value in enumerate(times.values)}
    axes.plot(
        [value for value, _ in places],
        [times.seconds[number][of_value[value]] for value, number in places],
        linestyle="",
        marker="o",
        markersize=_RING,
        gid="chosen",
        **_ring(),
    )


def _mark_break_evens(axes: Axes, times: InputTimes) -> None:
    for point in times.break_evens:
        axes.axvspan(point.low, point.high, color=BAND, zorder=0, gid="break-even")
        axes.text(
            point.middle,
            1.0,
            f"{point.before} → {point.after}",
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=SMALLEST_SIZE,
            color=GREY,
        )


def _duration(seconds: float) -> str:
    """A time with its unit: `10 µs`."""
    unit, name = next((each for each in _UNITS if seconds >= each[0] * (1 - 1e-9)), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}" if math.isfinite(seconds) else ""
