"""One device's best configuration on another (Magni, Dubach, O'Boyle, PACT 2014, figure 6): the drawing."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coarsen.opencl_bench.reporting.figures.axes import power_of_two
from coarsen.opencl_bench.reporting.figures.findings import portability_finding
from coarsen.opencl_bench.reporting.figures.page import page
from coarsen.opencl_bench.reporting.figures.remarks import Remarks, joined, remarks_on
from coarsen.opencl_bench.reporting.figures.style import COLOUR_MAP, PAGE_WIDTH, SMALLEST_SIZE, styled
from coarsen.opencl_bench.reporting.figures.text import wrapped
from coarsen.opencl_bench.reporting.numbers.curve_rows import MISSING
from coarsen.opencl_bench.reporting.numbers.portability import (
    MEASURED,
    NO_BEST,
    NOT_MEASURED,
    mean_transfers,
    transfers,
)
from coarsen.opencl_bench.results.rows import comparisons, names_of

# What is written into a cell without a value.
WORDS = {
    NOT_MEASURED: "–",
    NO_BEST: "none",
    MISSING: "no time",
    "timeout": "timeout",
    "compile": "compile",
    "runtime": "crash",
    "correctness": "wrong",
    "constraints": "limits",
    MEASURED: "",
}
_NOTE = (
    "Speed-up on the second device of the first one's best configuration, relative to the second one's own best."
)
_MEANING = {
    "compile": "compile: not built",
    "runtime": "crash: not run",
    "correctness": "wrong: other results",
    "timeout": "timeout: given up",
    "constraints": "limits: not allowed",
    MISSING: "no time: could not run",
}
_NOT_MEASURED = "–: not measured there."
_NO_BEST = "none: no best to carry over."
_ABOVE = (
    "The own best counts by its confirmation, where it was measured again; a value above 1 is what two "
    "measurements differ by."
)
_LOST_TO_SIZE = "What is lost may be lost to the sizes as well."
# Wide enough for a number, or a word, in the smallest type.
_LEAST_COLUMN = 0.4


@dataclass(frozen=True, slots=True)
class _Cell:
    column: int
    line: int
    value: float
    text: str
    failed: bool


def draw_portability(frame: pd.DataFrame) -> Figure:
    """Draw two panels: the geometric mean of each ordered pair of devices, and each kernel's values.

    Every cell holds its number; one without a value says why. Under a mean stands how many kernels it is of.

    Args:
        frame: of `Results.frame`, or of `curve_frame`, of at least two devices.

    Raises:
        InvalidInputError: there is nothing to draw; see `transfers`.
    """
    pairs = transfers(frame)
    with styled():
        return _figure(pairs, remarks_on(comparisons(frame)))


def _figure(pairs: pd.DataFrame, remarks: Remarks) -> Figure:
    devices, kernels = names_of(pairs, "run_on"), names_of(pairs, "benchmark")
    heights = (0.34 * len(devices) + 0.2, 0.19 * len(kernels) + 0.5)
    # More than four devices have more pairs than a page is wide.
    width = max(PAGE_WIDTH, 1.9 + _LEAST_COLUMN * len(devices) * (len(devices) - 1))
    sheet = page(width, sum(heights) + 1.1, portability_finding(pairs), _note(pairs, remarks))
    above, below = sheet.figure.subplots(2, 1, height_ratios=heights)
    colours = _colours(pairs)
    _draw(above, _mean_cells(pairs, devices), colours, len(devices), len(devices))
    _label_means(above, devices)
    foreign = pairs[pairs["tuned_on"] != pairs["run_on"]]
    steps = list(foreign[["tuned_on", "run_on"]].drop_duplicates().itertuples(index=False, name=None))
    _draw(below, _kernel_cells(foreign, kernels, steps), colours, len(steps), len(kernels))
    _label_kernels(below, kernels, devices, steps)
    _colour_bar(sheet.figure, colours, (above, below))
    return sheet.settled()


def _note(pairs: pd.DataFrame, remarks: Remarks) -> str:
    """Explain how to read the figure, in only those words that appear in it."""
    outcomes = set(pairs["outcome"])
    failures = [meaning for outcome, meaning in _MEANING.items() if outcome in outcomes]
    return joined(
        _NOTE,
        f"Hatched: it failed there ({'; '.join(failures)})." if failures else "",
        _NOT_MEASURED if NOT_MEASURED in outcomes else "",
        _NO_BEST if NO_BEST in outcomes else "",
        _ABOVE if (pairs["relative"] > 1).any() else "",
        f"{remarks.sizes} {_LOST_TO_SIZE}" if remarks.sizes else "",
    )


def _mean_cells(pairs: pd.DataFrame, devices: list[str]) -> list[_Cell]:
    cells = []
    for row in mean_transfers(pairs).itertuples():
        count = f"{row.measured} of {row.kernels}" + (f", {row.failed} failed" if row.failed else "")
        number = "no value" if math.isnan(row.relative) else f"{row.relative:.2f}"
        place = devices.index(row.run_on), devices.index(row.tuned_on)
        cells.append(_Cell(*place, row.relative, f"{number}\n{count}", not row.measured and row.failed > 0))
    return cells


def _kernel_cells(pairs: pd.DataFrame, kernels: list[str], steps: list[tuple[str, str]]) -> list[_Cell]:
    cells = []
    for row in pairs.itertuples():
        text = f"{row.relative:.2f}" if row.outcome == MEASURED else WORDS.get(row.outcome, row.outcome)
        failed = row.outcome not in (MEASURED, NOT_MEASURED, NO_BEST)
        place = steps.index((row.tuned_on, row.run_on)), kernels.index(row.benchmark)
        cells.append(_Cell(*place, row.relative, text, failed))
    return cells


def _colours(pairs: pd.DataFrame) -> matplotlib.cm.ScalarMappable:
    """The colour of a value; the scale is logarithmic, as ratios are, and reaches to 1/2 at least."""
    lowest = pairs["relative"].min()
    norm = LogNorm(vmin=min(0.5, 1.0 if math.isnan(lowest) else lowest), vmax=1.0)
    return matplotlib.cm.ScalarMappable(norm, COLOUR_MAP)


def _draw(axes: Axes, cells: list[_Cell], colours: matplotlib.cm.ScalarMappable, columns: int, lines: int) -> None:
    size = SMALLEST_SIZE if columns > 8 else 6.5
    for cell in cells:
        known = not math.isnan(cell.value)
        look = {"facecolor": colours.to_rgba(cell.value)} if known else {"facecolor": "white"}
        hatch = "////" if cell.failed else None
        corner = (cell.column - 0.5, cell.line - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, edgecolor="#B0B0B0", hatch=hatch, linewidth=0.4, **look))
        light = known and colours.norm(cell.value) > 0.45
        background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if cell.failed else None
        colour = "black" if light or not known else "white"
        place = cell.column, cell.line
        axes.text(*place, cell.text, color=colour, ha="center", va="center", fontsize=size, bbox=background)
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(lines - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _label_means(axes: Axes, devices: list[str]) -> None:
    axes.set_title("Geometric mean over the kernels", loc="left", fontweight="bold", pad=4)
    names = [f"{letter}: {name}" for letter, name in zip(_letters(devices), devices, strict=True)]
    axes.set_xticks(range(len(devices)), [wrapped(name, 90 // len(devices)) for name in names])
    axes.set_yticks(range(len(devices)), [wrapped(name, 28) for name in names])
    axes.set_xlabel("run on")
    axes.set_ylabel("best on")


def _label_kernels(axes: Axes, kernels: list[str], devices: list[str], steps: list[tuple[str, str]]) -> None:
    axes.set_title("Each kernel", loc="left", fontweight="bold", pad=4)
    letters = dict(zip(devices, _letters(devices), strict=True))
    labels = [f"{letters[tuned_on]} → {letters[run_on]}" for tuned_on, run_on in steps]
    axes.set_xticks(range(len(steps)), labels)
    axes.set_yticks(range(len(kernels)), kernels)
    axes.set_xlabel("best on → run on")


def _letters(devices: list[str]) -> list[str]:
    """A letter for each device; numbers where there are more devices than letters."""
    alphabet = string.ascii_uppercase
    return [alphabet[index] if len(devices) <= len(alphabet) else str(index + 1) for index in range(len(devices))]


def _colour_bar(figure: Figure, colours: matplotlib.cm.ScalarMappable, panels: tuple[Axes, Axes]) -> None:
    bar = figure.colorbar(colours, ax=panels, aspect=45, fraction=0.03, pad=0.02)
    lowest = math.floor(-math.log2(colours.norm.vmin))
    step = max(1, math.ceil(lowest / 6))
    bar.set_ticks([2.0**-exponent for exponent in range(0, lowest + 1, step)], minor=False)
    bar.ax.minorticks_off()
    bar.ax.yaxis.set_major_formatter(power_of_two)
    bar.set_label("speed-up relative to the own best")
    bar.outline.set_linewidth(0.4)
