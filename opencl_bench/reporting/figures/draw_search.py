"""Drawing of the quality of searches against the share of the space that they tried."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from coarsen.opencl_bench.reporting.figures.page import legend_entry, page
from coarsen.opencl_bench.reporting.figures.style import (
    BLACK,
    GREY,
    GRID,
    PAGE_WIDTH,
    SMALLEST_SIZE,
    Series,
    series_style,
    styled,
)
from coarsen.opencl_bench.reporting.figures.text import LABEL_SIZE, text_width
from coarsen.opencl_bench.reporting.numbers.search import (
    geometric_means,
    mean_curves,
    percent,
    planned_shares,
    quality_at,
    quality_curves,
    search_finding,
)

_MEAN = "geometric mean"
_MOST_COLUMNS = 4
_PANEL_HEIGHT, _LEAST = 1.75, 1.2
_TICKS = (0.0001, 0.001, 0.01, 0.1, 1.0)
# More where there are few decades; else their labels would run into each other.
_FINE_TICKS = (0.0003, 0.003, 0.03, 0.3)
_FEW_DECADES = 1.6
_NOTE = (
    "Quality: the optimum's time over the best time so far, 0 before anything ran. Every distinct configuration "
    "counts, failed ones too. Lines: medians over {seeds}; bands: quartiles{of}.{random}{planned}{mean}"
)
# The bands of more searchers would cover each other, and the curves.
_MOST_BANDS = 5
_RANDOM = " Random search is computed exactly, over all ways to draw."
_PLANNED = " Vertical lines: where an additive prediction has its bases and supports, and then its five checks."
_MEANS = " The last panel: the mean of the medians over all spaces."


def draw_search(rows: pd.DataFrame) -> Figure:
    """Quality against the share of the space tried: a panel for each space, and one of the geometric mean.

    Args:
        rows: of a replay; see `coarsen.opencl_bench.search.replay_rows`.

    Raises:
        InvalidInputError: there is nothing to draw; see `quality_curves`.
    """
    curves = quality_curves(rows)
    with styled():
        return _figure(curves, planned_shares(rows))


def _figure(curves: pd.DataFrame, planned: pd.DataFrame) -> Figure:
    spaces = list(dict.fromkeys(curves["space"]))
    searchers = list(dict.fromkeys(curves["searcher"]))
    looks = {name: series_style(number) for number, name in enumerate(searchers)}
    panels = len(spaces) + (len(spaces) > 1)
    columns = _columns_for(panels)
    lines = math.ceil(panels / columns)
    entries = [legend_entry(name, color=look.colour, linestyle=look.line) for name, look in looks.items()]
    height = (_PANEL_HEIGHT if columns > 2 else 2.4) * lines
    width = PAGE_WIDTH if columns > 2 else 1.6 + 2.4 * columns
    note = _note(curves, planned)
    sheet = page(width, height, _finding(curves), note, entries, _LEAST * lines)
    places = list(sheet.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, space in zip(places, spaces, strict=False):
        own = curves[curves["space"] == space]
        for name, look in looks.items():
            _line(axes, own[own["searcher"] == name], name, look, _has_band(name, searchers))
        _marks(axes, planned, space)
        _name(axes, space, 0.8 * width / columns)
    if len(spaces) > 1:
        means = mean_curves(curves)
        for name, look in looks.items():
            _line(places[len(spaces)], means[means["searcher"] == name], name, look, has_band=False)
        _name(places[len(spaces)], _MEAN, 0.8 * width / columns)
    _scales(places[0], curves)
    for position, axes in enumerate(places):
        _finish(axes, position, panels, columns)
    sheet.label_axes("share of the valid configurations tried", "quality (1 is the optimum)", height - 0.4)
    return sheet.settled()


def _columns_for(panels: int) -> int:
    """As few lines as can be, then as few empty places."""
    choices = range(min(3, panels), _MOST_COLUMNS + 1)
    return min(choices, key=lambda columns: (math.ceil(panels / columns), -panels % columns))


def _has_band(searcher: str, searchers: Sequence[str]) -> bool:
    return len(searchers) <= _MOST_BANDS or searcher == searchers[0]


def _line(axes: Axes, curve: pd.DataFrame, name: str, look: Series, has_band: bool) -> None:
    """A curve that rises in steps, for a best time lasts until a better one is found."""
    if curve.empty:
        return
    curve = _steps(curve)
    axes.plot(
        curve["share"],
        curve["quality"],
        drawstyle="steps-post",
        color=look.colour,
        linestyle=look.line,
        gid=f"curve {name}",
    )
    if has_band:
        axes.fill_between(
            curve["share"],
            curve["lower"],
            curve["upper"],
            step="post",
            color=look.colour,
            alpha=0.15,
            linewidth=0,
            gid=f"quartiles {name}",
        )


def _steps(curve: pd.DataFrame) -> pd.DataFrame:
    """The points at which a curve or its band rises, and the last one: all others are on lines between them."""
    levels = curve[[name for name in ("quality", "lower", "upper") if name in curve.columns]]
    rises = (levels != levels.shift()).any(axis=1)
    rises.iloc[-1] = True
    return curve[rises]


def _marks(axes: Axes, planned: pd.DataFrame, space: str) -> None:
    if space not in planned.index:
        return
    for name, line in (("planned", ":"), ("checked", "--")):
        axes.axvline(
            float(planned.loc[space, name]), color=GREY, linewidth=0.7, linestyle=line, zorder=1, gid=name
        )


def _scales(axes: Axes, curves: pd.DataFrame) -> None:
    """Shared by all panels: from the least share to the largest, and quality from 0 to 1."""
    low, high = float(curves["share"].min()), float(curves["share"].max())
    axes.set_xscale("log")
    axes.set_xlim(low / 1.1, max(high, 2 * low) * 1.1)
    decades = math.log10(max(high, 2 * low) / low)
    ticks = _TICKS if decades > _FEW_DECADES else sorted((*_TICKS, *_FINE_TICKS))
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low / 1.1 <= tick <= high * 1.1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _position: percent(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0.0, 1.03)


def _name(axes: Axes, name: str, width: float) -> None:
    """The name over a panel, smaller where it is long, and cut where that is not enough."""
    size = max(SMALLEST_SIZE, min(LABEL_SIZE, LABEL_SIZE * width / text_width(name, LABEL_SIZE, "bold")))
    while text_width(name, size, "bold") > width and len(name) > 2:
        name = name[:-2] + "…"
    axes.set_title(name, fontsize=size, fontweight="bold", pad=3)


def _finish(axes: Axes, position: int, panels: int, columns: int) -> None:
    """Tick labels stand under the lowest panel of each column; places without a panel stay empty."""
    if position >= panels:
        axes.set_axis_off()
        return
    axes.axhline(1.0, color=BLACK, linewidth=0.7, zorder=1, gid="optimum")
    axes.grid(color=GRID, linewidth=0.5)
    axes.tick_params(labelbottom=position + columns >= panels)


def _finding(curves: pd.DataFrame) -> str:
    share = float(curves.groupby("space")["share"].max().min())
    return search_finding(geometric_means(quality_at(curves, [share])), curves["space"].nunique())


def _note(curves: pd.DataFrame, planned: pd.DataFrame) -> str:
    seeds = sorted({int(count) for count in curves["seeds"] if count})
    searchers = list(dict.fromkeys(curves["searcher"]))
    return _NOTE.format(
        of="" if len(searchers) <= _MOST_BANDS else f" of {searchers[0]}",
        seeds=_runs(seeds) if seeds else "all ways to draw",
        random=_RANDOM if (curves["seeds"] == 0).any() and seeds else "",
        planned="" if planned.empty else _PLANNED,
        mean=_MEANS if curves["space"].nunique() > 1 else "",
    )


def _runs(counts: Sequence[int]) -> str:
    if counts == [1]:
        return "one seed"
    return f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 2 else f"{' or '.join(map(str, counts))} seeds"
