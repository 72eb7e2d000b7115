"""Axes in ascending order of their values: neighbours of a value are then those next to it."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.opencl_bench.search.spaces import Axis


@dataclass(frozen=True, slots=True)
class OrderedAxis:
    """The values of an axis in ascending order.

    Attributes:
        numbers: the values where all of them are numbers or spell one, else 0, 1, 2, … in the axis's own order.
        places: the index of each on the axis.
    """

    numbers: tuple[float, ...]
    places: tuple[int, ...]


def ascending(axis: Axis) -> OrderedAxis:
    """Return an axis in ascending order."""
    numbers = [number_of(value) for value in axis.values]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or len(set(known)) < len(known):
        indices = tuple(range(len(numbers)))
        return OrderedAxis(tuple(map(float, indices)), indices)
    places = sorted(range(len(known)), key=known.__getitem__)
    return OrderedAxis(tuple(known[place] for place in places), tuple(places))


def number_of(value: object) -> float | None:
    """Return the number that a value is or spells; None for any other value."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
