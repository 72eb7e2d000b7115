"""Style of all figures: colours for colour-blind readers, shapes that black and white keeps, sizes of a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib

# Text width and height of a page of A4 with margins of two centimetres, in inches.
PAGE_WIDTH = 6.7
PAGE_HEIGHT = 10.1
# In points: what is smaller can't be read in print.
SMALLEST_SIZE = 6.0

# Okabe and Ito, "Color Universal Design", 2008; without its yellow, which is too light for lines on white.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#767676"
LIGHT_GREY = "#C8C8C8"
GRID, BAND, BAND_EDGE = "#E4E4E4", "#F3F3F3", "#C8C8C8"
# Perceptually uniform, and right for colour-blind readers and for grey print.
COLOUR_MAP = "cividis"

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
