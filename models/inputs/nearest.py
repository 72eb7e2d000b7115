"""The best version of the nearest input that was measured.

Distances are Euclidean, of logarithms where a feature is above 0 on all inputs, each over its range on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.inputs.times import VersionTimes
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


@dataclass(frozen=True, slots=True)
class NearestInput:
    """Answers with what was best on the nearest input.

    Attributes:
        scales: of the features.
        places: coordinates of each input that was measured.
        best: the fastest version of each.
    """

    scales: tuple[Scale, ...]
    places: tuple[tuple[float, ...], ...]
    best: tuple[int, ...]

    def version(self, features: Mapping[str, float]) -> int:
        """Return the fastest version of the nearest input; of equally near ones of the first."""
        here = np.array([scale.coordinate(features[scale.name]) for scale in self.scales])
        distances = ((np.array(self.places).reshape(len(self.best), len(here)) - here) ** 2).sum(axis=1)
        return self.best[int(distances.argmin())]


def nearest_input(times: VersionTimes, names: Sequence[str]) -> NearestInput:
    """Return the choice by the nearest input.

    Args:
        times: of the inputs that may be the nearest.
        names: of the features that tell how near two inputs are.
    """
    values = times.features(names)
    scales = scales_of(names, values)
    places = tuple(coordinates(scales, row) for row in values)
    return NearestInput(scales, places, tuple(np.nanargmin(times.seconds, axis=1).tolist()))


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
