"""Time over the input: a curve for each version, the chosen one marked, break-even points as bands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from coarsen.base.names import did_you_mean
from coarsen.dispatch.tree import Split, Tree, answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.break_even import BreakEven, break_evens
from coarsen.models.inputs.times import VersionTimes, fixed_best
from coarsen.opencl_bench.inputs.evidence import Evidence, evidence_of, shipped_times
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
from coarsen.opencl_bench.workloads.described.inputs import sizes_in

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


# Times of a tuned file's versions over the input, what is chosen, and where the fastest changes.

T = TypeVar("T")

# Fewer values are no curve.
_LEAST_VALUES = 3


@dataclass(frozen=True, slots=True)
class InputTimes:
    """What a figure of times over the input shows.

    Attributes:
        kernel: its name.
        device: where it was measured.
        feature: a feature, or a size, along which the inputs are.
        held: the other sizes, where all inputs have the same ones; None where they differ or aren't known.
        values: of the feature, ascending, each once.
        groups: by value, the sizes of its inputs in words; empty where they have several.
        seconds: of each version, by its number, one at each value; NaN where it failed. Of several inputs with one
            value it is their geometric mean.
        over_fastest: the same as ratios to the fastest of the file's versions at each input.
        labels: what each version is.
        default: the version that is the kernel as it is written.
        fixed_best: of the file's versions the one that loses least over all inputs of the tuning.
        chosen: by value, the version that the tree chooses there; None where inputs of one value have several.
        break_evens: where the fastest version changes, between values; none where these aren't whole numbers.
    """

    kernel: str
    device: str
    feature: str
    held: Mapping[str, int] | None
    values: tuple[float, ...]
    groups: tuple[str, ...]
    seconds: Mapping[int, tuple[float, ...]]
    over_fastest: Mapping[int, tuple[float, ...]]
    labels: Mapping[int, str]
    default: int
    fixed_best: int
    chosen: tuple[int | None, ...]
    break_evens: tuple[BreakEven, ...]

    @property
    def is_logarithmic(self) -> bool:
        """Return True if the values are best shown as logarithms."""
        return min(self.values) > 0

    @property
    def is_relative(self) -> bool:
        """Return True if seconds of neighbouring values don't compare, for other sizes differ or aren't known."""
        return self.held is None

    @property
    def shown(self) -> Mapping[int, tuple[float, ...]]:
        """Return what curves are drawn of: seconds, or ratios to the fastest version where these alone compare."""
        return self.over_fastest if self.is_relative else self.seconds

    def roles(self, number: int) -> tuple[str, ...]:
        """Return what a version is beside others: the default, the fixed best."""
        roles = {"the default": self.default, "fixed best": self.fixed_best}
        return tuple(role for role, version in roles.items() if version == number)


def input_times(file: TunedFile, feature: str | None = None) -> InputTimes:
    """Return the times of a tuned file's versions over a feature.

    Args:
        file: keeps the times of its tuning.
        feature: its name; None for the one that the tree asks about first, else that with most different values.

    Raises:
        InvalidInputError: there is no such feature, or the file keeps no times.
    """
    kept = evidence_of(file)
    names = kept.times.feature_names
    along = feature or _usual_feature(file.tree, names, kept.times)
    if along not in names:
        hint = did_you_mean(along, names)
        raise InvalidInputError(f"there is no feature {along!a}{hint}; there are {', '.join(names)}")
    return _times_along(file, kept, along, kept.times.features([along])[:, 0], range(len(kept.times.inputs)))


def section_times(file: TunedFile) -> tuple[InputTimes, ...]:
    """Return the times along each size, at inputs that have all other sizes in common.

    Each has three different sizes at least. There are none where inputs fill a space of several sizes, or don't
    say their sizes.

    Args:
        file: keeps the times of its tuning.

    Raises:
        InvalidInputError: it keeps none.
    """
    kept = evidence_of(file)
    sizes = [sizes_in(point.group) for point in kept.times.inputs]
    rows: dict[tuple[str, tuple[tuple[str, int], ...]], list[int]] = {}
    for row, size in enumerate(sizes):
        for axis in size:
            others = tuple((name, value) for name, value in size.items() if name != axis)
            rows.setdefault((axis, others), []).append(row)
    return tuple(
        _times_along(file, kept, axis, np.array([float(size.get(axis, math.nan)) for size in sizes]), own)
        for (axis, _), own in rows.items()
        if len({sizes[row][axis] for row in own}) >= _LEAST_VALUES
    )


def _times_along(file: TunedFile, kept: Evidence, along: str, of_inputs: Array, rows: Sequence[int]) -> InputTimes:
    """Return the times at some inputs.

    Args:
        file: has the versions.
        kept: the file's evidence.
        along: the name of the values.
        of_inputs: the values of all inputs, (n,).
        rows: the places of the inputs that are meant.
    """
    times = shipped_times(file, kept)
    logarithms = np.log(times.seconds)
    over_fastest = logarithms - np.nanmin(logarithms, axis=1, keepdims=True)
    values = tuple(sorted({*of_inputs[[*rows]].tolist()}))
    at_values = [[row for row in rows if of_inputs[row] == value] for value in values]
    means = np.exp([logarithms[at].mean(axis=0) for at in at_values])
    ratios = np.exp([over_fastest[at].mean(axis=0) for at in at_values])
    points = times.inputs
    choices = [{answer(file.tree, points[row].features) for row in at} for at in at_values]
    groups = [{points[row].group for row in at} for at in at_values]
    return InputTimes(
        file.kernel,
        file.device,
        along,
        _held([points[row].group for row in rows]),
        values,
        tuple(_only(each) or "" for each in groups),
        {number: tuple(means[:, number].tolist()) for number in range(len(file.versions))},
        {number: tuple(ratios[:, number].tolist()) for number in range(len(file.versions))},
        {number: str(version.variant) for number, version in enumerate(file.versions)},
        file.default,
        fixed_best(times),
        tuple(map(_only, choices)),
        _break_evens(values, means, kept.margin),
    )


def _only(found: set[T]) -> T | None:
    return next(iter(found)) if len(found) == 1 else None


def _held(groups: Sequence[str]) -> dict[str, int] | None:
    """The sizes that inputs have in common, where but one differs."""
    sizes = [sizes_in(group) for group in groups]
    if not all(sizes):
        return None
    values = {name: {size.get(name) for size in sizes} for name in sizes[0]}
    if sum(len(each) > 1 for each in values.values()) > 1:
        return None
    return {name: sizes[0][name] for name, each in values.items() if len(each) == 1}


def _usual_feature(tree: Tree, names: Sequence[str], times: VersionTimes) -> str:
    if isinstance(tree, Split):
        return tree.feature
    return max(names, key=lambda name: len({*times.features([name])[:, 0].tolist()}))


def _break_evens(values: Sequence[float], seconds: Array, margin: float) -> tuple[BreakEven, ...]:
    """Return where the fastest version changes along whole numbers, between those that were measured."""
    if not all(value.is_integer() and value >= 1 for value in values):
        return ()
    places = {int(value): place for place, value in enumerate(values)}
    runs = {size: place for size, place in places.items() if not np.isnan(seconds[place]).all()}
    return break_evens([*runs], seconds[[*runs.values()]], margin)


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float) -> str:
    """A time with its unit: `10 µs`; nothing where it isn't finite."""
    unit, name = next((each for each in _UNITS if seconds >= each[0] * (1 - 1e-9)), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}" if math.isfinite(seconds) else ""
