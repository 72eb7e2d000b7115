"""Drawing of time over the input: a curve for each version, the chosen one marked, break-even points as bands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.inputs.break_even import BreakEven
from coarsen.opencl_bench.reporting.input_times import InputTimes, duration, input_times
from coarsen.opencl_bench.reporting.sheet import (
    BAND,
    BAND_EDGE,
    BLACK,
    GREY,
    GRID,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    Series,
    legend_entry,
    page,
    series_style,
    styled,
    text_width,
)

_HEIGHT = 2.6
# A logarithmic axis over less has too few powers of ten to be read by.
_FEW_DECADES = 100.0
# Over less than this not even 1, 2 and 5 are two labels.
_NO_DECADE = 4.0
_RING = 8.0  # about a marker, in points
_WIDTH = PAGE_WIDTH - 0.7  # of the panel, in inches, about
_LONGEST = 1e7  # a number that is written in full
_GAP = 0.06  # between two names, in inches
_NOTE = (
    "Each point is an input, of several with the same {feature} their geometric mean. Ring: the version that the "
    "tree chooses there; none where it chooses several by other features. "
)
_BAND = "Grey band: between its ends the fastest version changes; at the ends it is known, by more than noise."
_RELATIVE = (
    "Other sizes differ from input to input, so each version is shown by its time over that of the fastest one at "
    "the same input; lines only lead the eye."
)


def draw_input_times(file: TunedFile, feature: str | None = None) -> Figure:
    """Time over a feature of the input, a curve for each version of a tuned file.

    Args:
        file: keeps the times of its tuning.
        feature: along which the inputs are; see `input_times`.

    Raises:
        InvalidInputError: see `input_times`.
    """
    return draw_times(input_times(file, feature))


def draw_times(times: InputTimes) -> Figure:
    """Times over the input, a curve for each version; the page draws several of a file."""
    with styled():
        return _figure(times)


def _figure(times: InputTimes) -> Figure:
    looks = {number: series_style(number) for number in times.seconds}
    note = _NOTE.format(feature=times.feature) + _further(times)
    sheet = page(PAGE_WIDTH, _HEIGHT, _finding(times), note, [*_entries(times, looks)])
    axes = sheet.figure.subplots()
    for number, shown in times.shown.items():
        look = looks[number]
        axes.plot(
            times.values,
            shown,
            color=look.colour,
            linewidth=0.4 if times.is_relative else None,
            marker=look.marker,
            linestyle=look.line,
            gid=f"version-{number}",
        )
    _scales(axes, times)
    _mark_chosen(axes, times)
    if not times.is_relative:
        _mark_break_evens(axes, times)
    upright = "time over the fastest version’s" if times.is_relative else "time of a launch"
    sheet.label_axes(times.feature, upright, _HEIGHT - 0.4)
    return sheet.settled()


def _further(times: InputTimes) -> str:
    if times.is_relative:
        return _RELATIVE
    return _BAND if times.break_evens else ""


def _finding(times: InputTimes) -> str:
    chosen = {*times.chosen}
    if None in chosen:
        return f"{times.kernel} runs in versions that are chosen by more than {times.feature} ({times.device})"
    if len(chosen) == 1:
        return f"One version of {times.kernel} is chosen for every value of {times.feature} ({times.device})"
    return f"{times.kernel} is fastest in {len(chosen)} versions, by {times.feature} ({times.device})"


def _entries(times: InputTimes, looks: Mapping[int, Series]) -> Iterator[Line2D]:
    for number, label in times.labels.items():
        look = looks[number]
        roles = "".join(f" ({role})" for role in times.roles(number))
        text = f"{number}: {label}{roles}"
        yield legend_entry(text, color=look.colour, marker=look.marker, linestyle=look.line)
    yield legend_entry("chosen", linestyle="", marker="o", markersize=_RING, **_ring())


def _ring() -> dict[str, object]:
    return {"markerfacecolor": "none", "markeredgecolor": BLACK, "markeredgewidth": 0.8}


def _scales(axes: Axes, times: InputTimes) -> None:
    if times.is_logarithmic:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:.0f}" if value == round(value) and abs(value) < _LONGEST else f"{value:.3g}"
        )
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}×" if times.is_relative else duration(value))
    )
    axes.yaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    if high / low < _NO_DECADE:
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_minor_locator(NullLocator())
    elif high / low < _FEW_DECADES:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=GRID, linewidth=0.5)


def _mark_chosen(axes: Axes, times: InputTimes) -> None:
    places = [
        (value, number) for value, number in zip(times.values, times.chosen, strict=True) if number is not None
    ]
    of_value = {value: place for place, value in enumerate(times.values)}
    axes.plot(
        [value for value, _ in places],
        [times.shown[number][of_value[value]] for value, number in places],
        linestyle="",
        marker="o",
        markersize=_RING,
        gid="chosen",
        **_ring(),
    )


def _mark_break_evens(axes: Axes, times: InputTimes) -> None:
    for point in times.break_evens:
        axes.axvspan(
            point.low, point.high, facecolor=BAND, edgecolor=BAND_EDGE, linewidth=0.4, zorder=0, gid="break-even"
        )
    for middle, text in _changes(axes, times.break_evens):
        axes.text(
            middle,
            1.0,
            text,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=SMALLEST_SIZE,
            color=GREY,
        )


def _changes(axes: Axes, points: Sequence[BreakEven]) -> Iterator[tuple[float, str]]:
    """Yield where the changes of the version are named; several close by are named together: `2 → 1 → 2`."""
    low, high = axes.get_xlim()
    inches = _WIDTH / math.log(high / low)
    rows: list[list[BreakEven]] = []
    for point in points:
        rows.append([point])
        while len(rows) > 1 and _overlap(rows[-2], rows[-1], inches):
            last = rows.pop()
            rows[-1] += last
    for row in rows:
        yield _middle(row), _named(row)


def _overlap(one: Sequence[BreakEven], other: Sequence[BreakEven], inches: float) -> bool:
    """Return True if names would run into each other; `inches` is how far apart a factor of e is."""
    needed = (text_width(_named(one), SMALLEST_SIZE) + text_width(_named(other), SMALLEST_SIZE)) / 2 + _GAP
    return inches * math.log(_middle(other) / _middle(one)) < needed


def _middle(row: Sequence[BreakEven]) -> float:
    return math.sqrt(row[0].middle * row[-1].middle)


def _named(row: Sequence[BreakEven]) -> str:
    return " → ".join(str(number) for number in (row[0].before, *(each.after for each in row)))
