"""From tuned files to what the page says of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.dispatch.tree import Split, nodes, rules
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.evidence import evidence_of, worth_of_choice, worth_of_versions
from coarsen.opencl_bench.reporting.input_times import InputTimes, duration, input_times, section_times
from coarsen.opencl_bench.reporting.page.charts import Segment
from coarsen.opencl_bench.reporting.page.content import InputChart, TunedSection, TunedVersionRow, ratio

# More say no more: of sections those with the most inputs are kept, of features those that are asked about first.
_MOST_SECTIONS = 4
_MOST_FEATURES = 3


def tuned_sections(paths: Sequence[Path]) -> tuple[TunedSection, ...]:
    """Return the sections of tuned files, in their order.

    Args:
        paths: of the files.

    Raises:
        InvalidInputError: one can't be read or keeps no times, or is given twice.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise InvalidInputError("a tuned file is given twice: give each once")
    files = [TunedFile.read(path) for path in paths]
    return tuple(
        _section(file, path, f"tuned-{number}", _name(file, files, path))
        for number, (file, path) in enumerate(zip(files, paths, strict=True))
    )


def _name(file: TunedFile, files: Sequence[TunedFile], path: Path) -> str:
    alike = sum(other.kernel == file.kernel for other in files)
    return file.kernel if alike == 1 else f"{file.kernel} ({path.name})"


def _section(file: TunedFile, path: Path, slug: str, name: str) -> TunedSection:
    try:
        kept = evidence_of(file)
        charts = tuple(_charts(file))
        worths = worth_of_versions(file)
        worth = worth_of_choice(file)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None
    return TunedSection(
        slug=slug,
        name=name,
        device=f"{file.device}, driver {file.driver}",
        origin=path.name,
        inputs=len(kept.times.inputs),
        groups=len(kept.times.groups),
        tried=len(kept.times.versions),
        margin=kept.margin,
        rules=tuple(rules(file.tree)),
        features=tuple(f"{each.name} = {each.expression or 'supplied by the caller'}" for each in file.features),
        versions=tuple(
            TunedVersionRow(each, str(each.variant), charts[0].roles(each.number) if charts else ())
            for each in worths
        ),
        worth=worth,
        charts=tuple(InputChart(f"{slug}-{number}", each) for number, each in enumerate(charts)),
        is_cold=kept.is_cold,
    )


def _charts(file: TunedFile) -> Iterator[InputTimes]:
    """Sections along sizes; where no size is alone in differing, what the tree asks about as well."""
    sections = sorted(section_times(file), key=lambda times: -len(times.values))
    yield from sections[:_MOST_SECTIONS]
    usual = input_times(file)
    if usual.held is not None and sections:
        return
    asked = dict.fromkeys(node.feature for node in nodes(file.tree) if isinstance(node, Split))
    for feature in list(asked)[:_MOST_FEATURES] or [usual.feature]:
        yield input_times(file, feature)


# Positions of what a chart of times over the input shows: numbers for the template's SVG, as in `charts`.

HEIGHT = 240
# Above the curves, in pixels: names of brackets stand there, in two rows so that neighbours don't touch.
_HEAD, _ROW = 40, 16
_LABEL = 13.0  # per cent of the width of a phone's screen that such a name takes
_SIDE = 3.0  # per cent of the width left free on either side
_MOST_TICKS = 5
_MARGIN = 1.15
_LEAST_RANGE = 1.5
_FINE_TO_COARSE = (
    (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1,),
)
_DIGITS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, slots=True)
class InputSpot:
    """A version at a value: `x` in per cent, `y` in pixels; `text` says all of it."""

    x: float
    y: float
    text: str
    has_time: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class InputCurve:
    """A version's spots, and the lines between neighbours that both have a time."""

    number: int
    is_default: bool
    is_fixed_best: bool
    spots: tuple[InputSpot, ...]
    lines: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Bracket:
    """A break-even point with its uncertainty: from `x1` to `x2` in per cent; `y` in pixels is its height."""

    x1: float
    x2: float
    y: float
    label: str
    text: str

    @property
    def width(self) -> float:
        """Per cent from end to end."""
        return round(self.x2 - self.x1, 2)

    @property
    def middle(self) -> float:
        """Per cent at which the label stands."""
        return round((self.x1 + self.x2) / 2, 2)


@dataclass(frozen=True, slots=True)
class DrawnInputs:
    """A chart: `columns` and `ticks` have the texts of the axes and where they stand."""

    chart: InputChart
    height: int
    columns: tuple[tuple[str, float], ...]
    ticks: tuple[tuple[str, float], ...]
    curves: tuple[InputCurve, ...]
    brackets: tuple[Bracket, ...]


@dataclass(frozen=True, slots=True)
class _Across:
    """The horizontal axis."""

    low: float
    high: float
    is_logarithmic: bool

    def x(self, value: float) -> float:
        if self.high == self.low:
            return 50.0
        low, high, at = (math.log(each) if self.is_logarithmic else each for each in (self.low, self.high, value))
        return round(_SIDE + (100 - 2 * _SIDE) * (at - low) / (high - low), 2)

    @property
    def ticks(self) -> tuple[float, ...]:
        """A few values, powers of two where the axis is logarithmic and there are such."""
        if not self.is_logarithmic:
            return tuple(_round_values(self.low, self.high))
        powers = range(math.ceil(math.log2(self.low)), math.floor(math.log2(self.high)) + 1)
        step = max(1, math.ceil(len(powers) / _MOST_TICKS))
        found = tuple(2.0**power for power in powers[::step])
        return found if len(found) > 1 else tuple(dict.fromkeys((self.low, self.high)))


@dataclass(frozen=True, slots=True)
class _Down:
    """The vertical axis, logarithmic, from `high` at the top of the curves to `low` at the bottom."""

    low: float
    high: float

    def y(self, value: float) -> float:
        share = math.log(self.high / value) / math.log(self.high / self.low)
        return round(_HEAD + (HEIGHT - _HEAD) * share, 1)


def drawn_inputs(chart: InputChart) -> DrawnInputs:
    """Return where everything of a chart stands."""
    times = chart.times
    shown = times.shown
    across = _Across(times.values[0], times.values[-1], times.is_logarithmic)
    down = _down(shown)
    return DrawnInputs(
        chart,
        HEIGHT,
        tuple((number_text(value), across.x(value)) for value in across.ticks),
        tuple((_tick_text(chart, value), down.y(value)) for value in _tick_values(down)),
        tuple(_curve(times, number, own, across, down) for number, own in shown.items()),
        () if chart.is_relative else tuple(_brackets(times, across)),
    )


def number_text(number: float) -> str:
    """A size or a feature's value: large powers of two as such, `2¹⁶`."""
    value = float(number)
    if value >= 1 << 14 and value.is_integer() and int(value).bit_count() == 1:
        return "2" + str(int(value).bit_length() - 1).translate(_DIGITS)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _tick_text(chart: InputChart, value: float) -> str:
    return f"{value:.3g}×" if chart.is_relative else duration(value)


def _down(shown: Mapping[int, Sequence[float]]) -> _Down:
    known = [value for own in shown.values() for value in own if not math.isnan(value)]
    low, high = min(known), max(known)
    missing = max(1.0, _LEAST_RANGE / (high / low)) ** 0.5
    return _Down(low / missing / _MARGIN, high * missing * _MARGIN)


def _curve(times: InputTimes, number: int, shown: Sequence[float], across: _Across, down: _Down) -> InputCurve:
    spots = tuple(
        InputSpot(
            across.x(value),
            HEIGHT - 8 if math.isnan(shown[place]) else down.y(shown[place]),
            _spot_text(times, number, place),
            not math.isnan(shown[place]),
            times.chosen[place] == number,
        )
        for place, value in enumerate(times.values)
    )
    lines = tuple(
        Segment(one.x, one.y, other.x, other.y)
        for one, other in itertools.pairwise(spots)
        if one.has_time and other.has_time
    )
    return InputCurve(number, number == times.default, number == times.fixed_best, spots, lines)


def _spot_text(times: InputTimes, number: int, place: int) -> str:
    marks = [*times.roles(number), *(["chosen"] if times.chosen[place] == number else [])]
    marked = f" ({', '.join(marks)})" if marks else ""
    where = times.groups[place] if times.held is None else ""
    at = f"{times.feature} {number_text(times.values[place])}" + (f" ({where})" if where else "")
    seconds, over = times.seconds[number][place], times.over_fastest[number][place]
    if math.isnan(seconds):
        return f"version {number}{marked}, {at}: no time, it failed or breaks a constraint"
    return f"version {number}{marked}, {at}: {duration(seconds)}, {_times_as_long(over)} as long as the fastest"


def _times_as_long(value: float) -> str:
    return f"{ratio(value)} times"


def _brackets(times: InputTimes, across: _Across) -> Iterator[Bracket]:
    ends = [(across.x(each.low), across.x(each.high)) for each in times.break_evens]
    rows = label_rows([(low + high) / 2 for low, high in ends])
    for each, (low, high), row in zip(times.break_evens, ends, rows, strict=True):
        inside = sum(each.low < value < each.high for value in times.values)
        sizes = "1 size" if inside == 1 else f"{inside} sizes"
        between = f"at {sizes} between neither is" if inside else "nothing between was measured"
        text = (
            f"break-even: version {each.before} is known to be faster up to {number_text(each.low)}, version "
            f"{each.after} from {number_text(each.high)} on; {between}; uncertain by {each.octaves:.2g} octaves"
        )
        label = "" if row is None else f"{each.before} → {each.after}"
        yield Bracket(low, high, _HEAD - 8 - _ROW * (row or 0), label, text)


def label_rows(middles: Sequence[float]) -> list[int | None]:
    """Return for labels at ascending places, in per cent, the row in which each has room; None where none has."""
    last = [-math.inf, -math.inf]
    rows: list[int | None] = []
    for middle in middles:
        row = next((row for row, place in enumerate(last) if middle - place >= _LABEL), None)
        rows.append(row)
        if row is not None:
            last[row] = middle
    return rows


def _tick_values(down: _Down) -> list[float]:
    """Return a few round values, about as many whatever the range."""
    powers = range(math.floor(math.log10(down.low)), math.ceil(math.log10(down.high)) + 1)
    inside: list[float] = []
    for digits in _FINE_TO_COARSE:
        inside = [value for value in _values(digits, powers) if down.low <= value <= down.high]
        if len(inside) <= _MOST_TICKS + 1:
            return inside
    return inside[:: math.ceil(len(inside) / _MOST_TICKS)]


def _values(digits: Sequence[float], powers: Sequence[int]) -> Iterator[float]:
    for power in powers:
        yield from (digit * 10.0**power for digit in digits)


def _round_values(low: float, high: float) -> Iterator[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / 2)) if high > low else 1.0
    while (high - low) / step > _MOST_TICKS:
        step *= 2
    first = math.ceil(low / step)
    for count in range(first, math.floor(high / step) + 1):
        yield round(count * step, 9)
