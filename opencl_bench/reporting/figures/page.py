"""The page of a figure: its finding on top, the panels, and below them the legend and how to read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coarsen.opencl_bench.reporting.figures.notebook import ShownFigure
from coarsen.opencl_bench.reporting.figures.style import PAGE_HEIGHT
from coarsen.opencl_bench.reporting.figures.text import LABEL_SIZE, filled, lines_of, text_width

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
    width: float,
    height: float,
    finding: str,
    note: str = "",
    entries: Sequence[Line2D] = (),
    least: float = 0.0,
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
