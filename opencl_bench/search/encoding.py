"""Choices as rows of numbers, for regression models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coarsen.opencl_bench.search.spaces import Axis, Choice, SearchSpace


class Encoding:
    """The columns of a space: numbers as they are, shapes by entries and product, other values one column each.

    Args:
        space: has the axes.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._tables = [_columns(axis) for axis in space.axes]

    def rows(self, choices: Sequence[Choice]) -> NDArray[np.float64]:
        """Return one row for each choice."""
        indices = np.array(choices, dtype=np.intp).reshape(len(choices), len(self._tables))
        return np.hstack([table[indices[:, place]] for place, table in enumerate(self._tables)])


def _columns(axis: Axis) -> NDArray[np.float64]:
    """Return the table of an axis: a row for each value."""
    numbers = [_number(value) for value in axis.values]
    if all(number is not None for number in numbers):
        return np.array(numbers, dtype=np.float64)[:, None]
    if all(
        isinstance(value, tuple) and all(_number(entry) is not None for entry in value) for value in axis.values
    ):
        longest = max(len(value) for value in axis.values)
        padded = np.array([[*map(float, value), *[1.0] * (longest - len(value))] for value in axis.values])
        return np.hstack([padded, padded.prod(axis=1, keepdims=True)])
    return np.eye(len(axis.values))


def _number(value: object) -> float | None:
    """Return the number that a value is or spells; None for any other value."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
