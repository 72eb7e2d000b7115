"""How near inputs are.

Distances are Euclidean, of logarithms where a feature is above 0 on all inputs, each over its range on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.trees.arrays import Array


@dataclass(frozen=True, slots=True)
class Scale:
    """One feature's way to a coordinate: (value or its logarithm − offset) / spread."""

    name: str
    is_logarithm: bool
    offset: float
    spread: float

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a value; one that has no logarithm is at the low end."""
        if self.is_logarithm:
            value = float(np.log2(value)) if value > 0 else self.offset
        return (value - self.offset) / self.spread


def scales_of(names: Sequence[str], values: Array) -> tuple[Scale, ...]:
    """Return the scales of features that have these values, (n, names)."""
    return tuple(_scale(name, column) for name, column in zip(names, values.T, strict=True))


def coordinates(scales: Sequence[Scale], row: Sequence[float] | Array) -> tuple[float, ...]:
    """Return the coordinates of one input's values."""
    return tuple(scale.coordinate(float(value)) for scale, value in zip(scales, row, strict=True))


def _scale(name: str, column: Array) -> Scale:
    is_logarithm = bool((column > 0).all())
    values = np.log2(column) if is_logarithm else column
    return Scale(name, is_logarithm, float(values.min()), float(np.ptp(values)) or 1.0)
