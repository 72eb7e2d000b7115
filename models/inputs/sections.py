"""Break-even points of inputs with several sizes: along each axis, the other sizes held.

height
  │ ───┼────────┼──   a section along width at each of some heights,
  │ ──────┼───────    and one along height at each of some widths
  └────────────── width
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from coarsen.models.inputs.break_even import BreakEven, break_evens
from coarsen.models.trees.arrays import Array

Sizes = Mapping[str, int]
# Gives the seconds of each version at some sizes by name; NaN for one that failed.
MeasureSizes = Callable[[Sizes], Sequence[float] | Array]


@dataclass(frozen=True, slots=True)
class Section:
    """What changes along one axis.

    Attributes:
        axis: the name of the size that varies.
        held: the other sizes.
        break_evens: in ascending order of the size.
    """

    axis: str
    held: Sizes
    break_evens: tuple[BreakEven, ...]


def sections(
    measure: MeasureSizes,
    grids: Mapping[str, Sequence[int]],
    held: Mapping[str, Sequence[int]],
    noise: float,
    resolution: float = 0.0,
) -> tuple[Section, ...]:
    """Return the sections along each axis, at all combinations of what the other sizes are held at.

    Args:
        measure: see `break_even.break_evens`, for all sizes by name.
        grids: the sizes of each axis, at least 1 each, in ascending order.
        held: at what each size is held while another one varies.
        noise: see `break_evens`; `resolution` as well.

    Raises:
        InvalidInputError: sizes below 1 or not in ascending order, or sizes at which no version ran.
    """
    found = []
    for axis, grid in grids.items():
        others = [name for name in grids if name != axis]
        for values in itertools.product(*(held[name] for name in others)):
            fixed = dict(zip(others, values, strict=True))
            along = partial(_at, measure, axis, fixed)
            found.append(Section(axis, fixed, break_evens(along, grid, noise, resolution)))
    return tuple(found)


def quartiles(grid: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes at a quarter, half and three quarters of a grid, to hold while another size varies."""
    last = len(grid) - 1
    return tuple(dict.fromkeys(grid[round(last * quarter / 4)] for quarter in (1, 2, 3)))


def _at(measure: MeasureSizes, axis: str, fixed: Sizes, size: int) -> Sequence[float] | Array:
    return measure({**fixed, axis: size})
