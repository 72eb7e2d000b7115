"""How far a kernel is from those that the model learned from.

The root of the mean square of the differences of its inputs, each in standard deviations over those kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.neighbours import Neighbour, nearest_kernels
from coarsen.models.trees.arrays import Array


@dataclass(frozen=True)
class Neighbourhood:
    """The training kernels: their names, k of them, `points` (k, d), and each input's `mean` and `scale`, (d,)."""

    kernels: tuple[str, ...]
    points: Array
    mean: Array
    scale: Array

    def nearest(self, place: Array, count: int = 3) -> tuple[Neighbour, ...]:
        """Return the kernels that are nearest to a place, (d,), each once."""
        return nearest_kernels(self.kernels, self._distances(place), count)

    def distance(self, place: Array) -> float:
        """Return the distance to the nearest kernel."""
        return float(self._distances(place).min(initial=np.inf))

    def _distances(self, place: Array) -> Array:
        return np.asarray(np.sqrt((((self.points - place) / self.scale) ** 2).mean(axis=1)))


def fit_neighbourhood(kernels: Sequence[str], places: Sequence[Array]) -> Neighbourhood:
    """Return the neighbourhood of kernels at places, (d,) each; equal ones of one name count once."""
    known = {(kernel, place.tobytes()): place for kernel, place in zip(kernels, places, strict=True)}
    points = np.array(list(known.values()))
    spread = points.std(axis=0)
    names = tuple(kernel for kernel, _ in known)
    return Neighbourhood(names, points, points.mean(axis=0), np.where(spread > 0.0, spread, 1.0))
