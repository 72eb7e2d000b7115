"""The page of a figure: its finding on top, the panels, and below them the legend and how to read it."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from PIL import Image

from coarsen.base.files import replace_file
from coarsen.errors import InvalidInputError

TITLE_SIZES, TITLE_LINES = (9.5, 8.5, 7.6), 2
LEGEND_SIZE, NOTE_SIZE = 7.2, 6.8
_LINE = 1.35 / 72  # height of a line of text, in inches per point
_MARGIN = 0.07
_HANDLE = 0.62  # width of a legend's sample and the space around an entry, in inches


@dataclass(frozen=True, slots=True)
class Page:
    """A figure, and where on it the panels go: `bottom` and `top` in inches from below, `height` of all."""

    figure: Figure
    bottom: float
    top: float
    height: float

    def label_axes(self, below: str, left: str, length: float) -> None:
        """Name the axes of all panels. `length` is that of the y axes together, in inches."""
        lines = lines_of(left, length)
        line, width = LABEL_SIZE * _LINE, self.figure.get_size_inches()[0]
        under = line + _MARGIN if below else 0.0
        beside = line * (1 + lines.count("\n")) + _MARGIN
        self._leave_room(beside / width, under)
        middle = (self.bottom + under + self.top) / 2 / self.height
        place = {"x": _MARGIN / width, "y": middle, "va": "center", "multialignment": "center"}
        self.figure.supylabel(lines, fontsize=LABEL_SIZE, **place)
        if below:
            across = (1 + beside / width) / 2
            height = (self.bottom + _MARGIN) / self.height
            self.figure.supxlabel(below, x=across, y=height, va="bottom", fontsize=LABEL_SIZE)

    def _leave_room(self, left: float, below: float) -> None:
        """Keep the panels off a part of the width and, in inches, of the height."""
        bottom = (self.bottom + below) / self.height
        self.figure.set_layout_engine(
            "constrained", rect=(left, bottom, 1 - left, self.top / self.height - bottom)
        )

    def settled(self) -> Figure:
        """The figure with its layout done for good: done again for each file, it would differ a little each time.

        The solver of the layout isn't exact to the last bit, so places are rounded to less than is visible.
        """
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        for axes in self.figure.axes:
            place = axes.get_position(original=True)
            axes.set_position([round(length, 5) for length in place.bounds])
        return self.figure


def page(
    width: float, height: float, finding: str, note: str = "", entries: Sequence[Line2D] = (), least: float = 0.0
) -> Page:
    """A page without any panels.

    Args:
        width: of the page, in inches.
        height: of the panels, in inches; less where the page would be higher than paper, but not below `least`.
        finding: the title, on two lines at most; what does not fit stands in the note as a whole.
        note: how the figure is to be read, in plain type at the bottom.
        entries: of the legend.
        least: the smallest legible height of the panels, in inches, however tall the page becomes.
    """
    title, size = _title(finding, width - 2 * _MARGIN)
    # A title that does not fit stands in the note.
    whole = f"{finding}. {note}" if title[-1].endswith("…") else note
    text = filled(whole, width - 2 * _MARGIN, NOTE_SIZE)
    columns = _legend_columns(entries, width)
    head = size * _LINE * len(title) + 2 * _MARGIN
    legend = LEGEND_SIZE * _LINE * 1.1 * math.ceil(len(entries) / columns) + _MARGIN if entries else 0.0
    foot = legend + NOTE_SIZE * _LINE * len(text) + 2 * _MARGIN
    body = max(least, min(height, PAGE_HEIGHT - head - foot))
    total = head + body + foot
    figure = ShownFigure(figsize=(width, total))
    figure.set_label(finding)
    figure.set_layout_engine("constrained", rect=(0, foot / total, 1, body / total))
    left = _MARGIN / width
    _write(figure, title, (left, 1 - _MARGIN / total), size, "bold")
    _write(figure, text, (left, (foot - legend) / total), NOTE_SIZE, "normal")
    if entries:
        figure.legend(
            handles=list(entries),
            loc="upper left",
            bbox_to_anchor=(left, foot / total),
            ncols=columns,
            fontsize=LEGEND_SIZE,
            handlelength=3.0,
            borderaxespad=0.0,
            borderpad=0.0,
        )
    return Page(figure, foot, foot + body, total)


def legend_entry(label: str, **look: object) -> Line2D:
    """A legend's entry that stands for something drawn with this look."""
    return Line2D([], [], label=label, **look)


def _title(finding: str, width: float) -> tuple[list[str], float]:
    """The lines of a title and their size: smaller where it is long, and cut where that is not enough."""
    for size in TITLE_SIZES:
        lines = filled(finding, width, size, "bold")
        if len(lines) <= TITLE_LINES:
            return lines, size
    words = " ".join(lines[:TITLE_LINES]).split()
    while len(lines) > TITLE_LINES:
        words.pop()
        lines = filled(f"{' '.join(words).rstrip(',;')} …", width, size, "bold")
    return lines, size


def _legend_columns(entries: Sequence[Line2D], width: float) -> int:
    widest = max((text_width(str(entry.get_label()), LEGEND_SIZE) for entry in entries), default=0.0)
    fitting = max(1, int((width - 2 * _MARGIN) / (widest + _HANDLE)))
    return math.ceil(len(entries) / math.ceil(len(entries) / fitting)) if entries else 1


def _write(figure: Figure, lines: Sequence[str], place: tuple[float, float], size: float, weight: str) -> None:
    figure.text(*place, "\n".join(lines), ha="left", va="top", fontsize=size, fontweight=weight, linespacing=1.2)


# Style of all figures: colours for colour-blind readers, shapes that black and white keeps, sizes of a page.

# Text width and height of a page of A4 with margins of two centimetres, in inches.
PAGE_WIDTH = 6.7
PAGE_HEIGHT = 10.1
# In points: what is smaller can't be read in print.
SMALLEST_SIZE = 6.0

# Okabe and Ito, "Color Universal Design", 2008; without its yellow, which is too light for lines on white.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
GRID, BAND = "#E4E4E4", "#F3F3F3"

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    # A name may hold a dollar sign: nothing is set as a formula.
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "coarsen",
    # Hinted letters are wider on a screen than in print, so that lines would run over the edge.
    "text.hinting": "none",
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


@dataclass(frozen=True, slots=True)
class Series:
    """The look of a curve; each of its attributes alone tells it from others."""

    colour: str
    marker: str
    line: str | tuple[int, tuple[float, ...]]


_SERIES = (
    Series(BLUE, "o", "-"),
    Series(VERMILLION, "s", "--"),
    Series(GREEN, "^", "-."),
    Series(PURPLE, "D", ":"),
    Series(ORANGE, "v", (0, (5, 1, 1, 1, 1, 1))),
    Series(SKY, "P", (0, (8, 2))),
    Series(BLACK, "*", (0, (1, 2))),
)


def series_style(index: int) -> Series:
    """The look of the curve number `index`, counted from 0.

    After seven, colours come again with other markers and lines, so that only both together tell curves apart.
    """
    turn, place = divmod(index, len(_SERIES))
    other = _SERIES[(place + turn) % len(_SERIES)]
    return Series(_SERIES[place].colour, other.marker, other.line)


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib with these settings while the context lasts, whatever the user's own are."""
    with matplotlib.rc_context():
        # The back end stays the user's: it decides what a window is.
        kept = {name: value for name, value in matplotlib.rcParams.items() if name.startswith("backend")}
        defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if name not in kept}
        matplotlib.rcParams.update(defaults | _SETTINGS)
        yield


# Text in lines: how wide it is, and where it has to be broken.

LABEL_SIZE = 7.5
# Where a line may end: not in "dimension 1", nor in "95 %".
_SPACE = re.compile(r" +(?!%|\d+\b)")


def filled(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """The text in lines that fit a width in inches, set in points; numbers stay with what they are of."""
    lines: list[str] = []
    for word in filter(None, _SPACE.split(text.strip())):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def lines_of(label: str, length: float) -> str:
    """The label of an axis of a length in inches, on as many lines as it needs."""
    return "\n".join(filled(label, length, LABEL_SIZE))


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a line of text, in inches."""
    font = FontProperties(family="DejaVu Sans", weight=weight, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def listed(parts: Sequence[str]) -> str:
    """The parts as a sentence lists them: `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


# Axes that several figures share: logarithmic, with 1 marked.

# Where powers of 2 would be few: the first of these that isn't too dense.
_FEW_OCTAVES = 3.0
_ROUND = (
    (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0),
    (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0),
)
FACTOR = "coarsening factor (work-items merged into one)"
SPEEDUP = "speed-up over the best uncoarsened configuration"
SPEEDUP_OF_ONE = "speed-up over the uncoarsened kernel"


def power_of_two(value: float, _position: int | None = None) -> str:
    """A number of a logarithmic axis, above 0: `4`, `1/4`; others with two digits."""
    if value >= 1:
        return f"{value:.3g}"
    inverse = 1 / value
    return f"1/{inverse:.0f}" if math.isclose(inverse, round(inverse)) else f"{value:.2g}"


def plain_number(value: float, _position: int | None = None) -> str:
    """A number with as many digits as it needs, three at most."""
    return f"{value:.3g}"


def speedup_axis(axes: Axes, values: Iterable[float], room_below: float = 0.0, ticks: int = 8) -> None:
    """A logarithmic y axis to the base 2 that shows all values and 1.

    Args:
        axes: whose y axis it is.
        values: speed-ups, all above 0; NaN are left out.
        room_below: the part of the axis that is kept free of values at the bottom, in [0, 1).
        ticks: the largest number of ticks.
    """
    logarithms = [0.0, *(math.log2(value) for value in values if not math.isnan(value))]
    low, high = min(logarithms), max(logarithms)
    margin = 0.06 * max(high - low, 1.0)
    low, high = min(low - margin, -0.3), max(high + margin, 0.3)
    bottom = low - (high - low) * room_below / (1 - room_below)
    axes.set_yscale("log", base=2)
    axes.set_ylim(2.0**bottom, 2.0**high)
    _tick(axes.yaxis, low, high, ticks)


def mark_one(axes: Axes) -> None:
    """A line where nothing is won or lost, and faint ones at the other ticks."""
    axes.axhline(1.0, color=BLACK, linewidth=0.7, zorder=1, gid="one")
    axes.grid(axis="y", color=GRID, linewidth=0.5)


def factor_axis(axes: Axes, factors: Sequence[int]) -> None:
    """A logarithmic x axis to the base 2 with a tick at each factor."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(factors) / 2**0.35, max(factors) * 2**0.35)
    axes.xaxis.set_major_locator(FixedLocator(sorted(set(factors))))
    axes.xaxis.set_major_formatter(FuncFormatter(power_of_two))
    axes.xaxis.set_minor_locator(NullLocator())


def _tick(axis: Axis, low: float, high: float, ticks: int) -> None:
    """Ticks at powers of 2 with 1 among them, as far apart as it needs; at round numbers where there are few.

    Args:
        axis: which axis.
        low: the logarithm to the base 2 of the smallest value that may have a tick.
        high: that of the largest.
        ticks: the largest number of ticks.
    """
    values, name = _powers(low, high, ticks), power_of_two
    if high - low < _FEW_OCTAVES:
        choices = ([value for value in numbers if low <= math.log2(value) <= high] for numbers in _ROUND)
        values, name = next((choice for choice in choices if len(choice) <= ticks), values), plain_number
    axis.set_major_locator(FixedLocator(values))
    axis.set_major_formatter(FuncFormatter(name))
    axis.set_minor_locator(NullLocator())


def _powers(low: float, high: float, ticks: int) -> list[float]:
    step = math.ceil((high - low) / ticks)
    return [2.0 ** (step * count) for count in range(math.ceil(low / step), math.floor(high / step) + 1)]


# A figure as the bytes of a PNG, SVG or PDF file: the same figure gives the same bytes.

FileType = Literal["png", "svg", "pdf"]
_CANVAS = MappingProxyType({"png": FigureCanvasAgg, "svg": FigureCanvasSVG, "pdf": FigureCanvasPdf})
# The metadata that Matplotlib would write: its version and the date.
_METADATA = MappingProxyType(
    {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
)


def file_type(path: Path) -> FileType:
    """The type that a file's name asks for. Raises InvalidInputError for any other than .png, .svg and .pdf."""
    ending = path.suffix.removeprefix(".").lower()
    for known in get_args(FileType):
        if ending == known:
            return ending  # type: ignore[return-value]
    raise InvalidInputError(f"{path}: a figure's file ends in .png, .svg or .pdf")


def rendered(figure: Figure, kind: FileType, resolution: int | None = None) -> bytes:
    """The figure as a file's content.

    Args:
        figure: it stays as it is.
        kind: of the file.
        resolution: of a PNG, in dots per inch; that of print if None.
    """
    buffer = io.BytesIO()
    with styled():
        # Of a copy: to be written at another resolution leaves rounding errors in a figure.
        canvas = _CANVAS[kind](deepcopy(figure))
        canvas.print_figure(buffer, format=kind, dpi=resolution, metadata=dict(_METADATA[kind]))
    return buffer.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write the figure to a file.

    Args:
        figure: from any of the drawing functions.
        path: of the file; its name ends in .png, .svg or .pdf.

    Raises:
        InvalidInputError: the name ends otherwise, or the file can't be written.
    """
    replace_file(rendered(figure, file_type(path)), path)


# Dots per inch: as wide as a notebook's text, and small enough to be stored in it.
SCREEN_RESOLUTION = 110


class ShownFigure(Figure):  # type: ignore[misc]  # Matplotlib's annotations are unfinished
    """A figure that Jupyter shows by itself, without pyplot and without `%matplotlib inline`.

    Matplotlib's own figure is shown by pyplot's back end alone, which keeps every figure of a process and has
    settings of its own. The figure's label is what a screen reader says instead of the picture.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        """The picture and what describes it, as IPython asks for them."""
        text, content = screen_picture(self)
        return content, {"alt": text}


def screen_picture(figure: Figure) -> tuple[str, bytes]:
    """Return what a figure says, and a PNG of it that is as wide as a notebook's text."""
    return str(figure.get_label()), _with_few_colours(rendered(figure, "png", SCREEN_RESOLUTION))


def _with_few_colours(picture: bytes) -> bytes:
    """The PNG with a palette, which has a third of the bytes: notebooks are stored with their figures."""
    smaller = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        colours.save(smaller, "PNG", optimize=True)
    return smaller.getvalue()
