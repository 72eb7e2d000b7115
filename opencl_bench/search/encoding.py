"""Choices as rows of numbers, for regression models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coarsen.opencl_bench.search.ordered_axes import number_of
from coarsen.opencl_bench.search.spaces import Axis, Choice, SearchSpace

Table = NDArray[np.float64]
# Beside a number with so many values its power of two tells something new.
_LEAST_VALUES = 5
# A power of two is a hint, where the value itself is a fact: it is to be half as far.
_POWER_WEIGHT = 0.5


class Encoding:
    """The columns of a space: numbers as they are, shapes by entries and product, other values one column each.

    Args:
        space: has the axes.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._tables = [self._columns(axis) for axis in space.axes]

    def rows(self, choices: Sequence[Choice]) -> NDArray[np.float64]:
        """Return one row for each choice."""
        indices = np.array(choices, dtype=np.intp).reshape(len(choices), len(self._tables))
        return np.hstack([table[indices[:, place]] for place, table in enumerate(self._tables)])

    def _columns(self, axis: Axis) -> Table:
        """Return the table of an axis: a row for each value."""
        entries = _entries(axis)
        if entries is None:
            return np.eye(len(axis.values))
        if entries.shape[1] == 1 and not isinstance(axis.values[0], tuple):
            return entries
        return np.hstack([entries, entries.prod(axis=1, keepdims=True)])


class ProductEncoding(Encoding):
    """Logarithms of numbers, of the products and quotients of any two, and their largest powers of two.

    Trees split one column at a time: the size of a work-group, or of what it reads, is then one split, not many.
    """

    def __init__(self, space: SearchSpace) -> None:
        super().__init__(space)
        self._powers = [_powers(axis) for axis in space.axes]
        self._logarithms = [_logarithms(axis) for axis in space.axes]

    def rows(self, choices: Sequence[Choice]) -> NDArray[np.float64]:
        """Return one row for each choice."""
        indices = np.array(choices, dtype=np.intp).reshape(len(choices), len(self._tables))
        single = [table[indices[:, place]] for place, table in enumerate(self._tables)]
        powers = [table[indices[:, place]] for place, table in enumerate(self._powers) if table is not None]
        numbers = [table[indices[:, place]] for place, table in enumerate(self._logarithms) if table is not None]
        columns = [column[:, None] for table in numbers for column in table.T]
        pairs = [each for one, other in itertools.combinations(columns, 2) for each in (one + other, one - other)]
        return np.hstack([*single, *powers, *pairs])

    def _columns(self, axis: Axis) -> Table:
        logarithms = _logarithms(axis)
        return super()._columns(axis) if logarithms is None else logarithms


class UnitEncoding(Encoding):
    """Columns from 0 to 1, for models of distances: logarithms of numbers, and their largest powers of two."""

    def _columns(self, axis: Axis) -> Table:
        logarithms, powers = _logarithms(axis), _powers(axis)
        if logarithms is None:
            return _in_unit(super()._columns(axis))
        values = _in_unit(logarithms)
        return values if powers is None else np.hstack([values, _POWER_WEIGHT * _in_unit(powers)])


def _entries(axis: Axis) -> Table | None:
    """The numbers of each value, one or, of a shape, several; None where a value is no number."""
    values = [value if isinstance(value, tuple) else (value,) for value in axis.values]
    numbers = [[number_of(entry) for entry in value] for value in values]
    if any(number is None for row in numbers for number in row):
        return None
    longest = max(map(len, numbers))
    return np.array([[*row, *[1.0] * (longest - len(row))] for row in numbers], dtype=np.float64)


def _logarithms(axis: Axis) -> Table | None:
    """The logarithms of the numbers, as far as all are above 0."""
    entries = _entries(axis)
    return None if entries is None or (entries <= 0).any() else np.log2(entries)


def _powers(axis: Axis) -> Table | None:
    """The exponent of the largest power of two that divides each value; None where it tells nothing new."""
    entries, logarithms = _entries(axis), _logarithms(axis)
    if entries is None or logarithms is None or len(axis.values) < _LEAST_VALUES or (entries % 1).any():
        return None
    whole = entries.astype(np.int64)
    powers = np.log2(whole & -whole)
    return None if np.allclose(powers, logarithms) or np.ptp(powers) == 0 else powers


def _in_unit(columns: Table) -> Table:
    low, spread = columns.min(axis=0), np.ptp(columns, axis=0)
    scaled: Table = (columns - low) / np.where(spread == 0, 1.0, spread)
    return scaled
