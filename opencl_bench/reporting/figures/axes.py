"""Axes that several figures share: logarithmic, with 1 marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from coarsen.opencl_bench.reporting.figures.style import BLACK, GRID

# Where powers of 2 would be few: the first of these that isn't too dense.
_FEW_OCTAVES = 3.0
_ROUND = (
    (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0),
    (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0),
)
FACTOR = "coarsening factor (work-items merged into one)"
SHORT_FACTOR = "coarsening factor"
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
