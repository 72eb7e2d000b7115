"""How far a kernel is from those that the model learned from, and from which distance on the model keeps out.

The distance of two kernels is the root of the mean square of the differences of their inputs at factor 1 (the
device's left out), each in standard deviations over the training kernels. A kernel is too far if its nearest
training kernel is farther away than 99 % of the training kernels are from the nearest one of another family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.default.inputs import POINT_NAMES, Array, Rows
from coarsen.models.neighbours import Neighbour, nearest_kernels

PERCENTILE = 99.0


@dataclass(frozen=True)
class Neighbourhood:
    """The training kernels as points.

    Args:
        kernels: the name of each point's kernel, k of them; one that was launched in several ways has several.
        points: standardised, (k, d).
        mean: of each input before it was standardised, (d,).
        scale: likewise the standard deviation, (d,).
        limit: the distance from which on a kernel is too far.
    """

    kernels: tuple[str, ...]
    points: Rows
    mean: Array
    scale: Array
    limit: float

    def standardised(self, point: Array) -> Array:
        """Return a kernel's inputs at factor 1, (d,), in standard deviations from the training kernels' mean."""
        return (point - self.mean) / self.scale

    def nearest(self, point: Array, count: int = 3) -> tuple[Neighbour, ...]:
        """Return the training kernels that are nearest to a kernel's inputs at factor 1, each kernel once."""
        distances = _distances(self.standardised(point), self.points.astype(np.float64))
        return nearest_kernels(self.kernels, distances, count)

    def strangest(self, point: Array, count: int = 3) -> tuple[str, ...]:
        """Return the inputs in which a kernel differs most from its nearest training kernel."""
        place = self.standardised(point)
        nearest = self.points[int(np.argmin(_distances(place, self.points.astype(np.float64))))]
        order = np.argsort(-np.abs(place - nearest), kind="stable")
        return tuple(POINT_NAMES[index] for index in order[:count])


def fit_neighbourhood(kernels: Sequence[str], families: Sequence[str], points: Array) -> Neighbourhood:
    """Standardise the training kernels' points, (k, d), and find the limit.

    An input that is the same for all is left unscaled. With fewer than two families nothing is too far.
    """
    kept = np.sort(np.unique(points, axis=0, return_index=True)[1])
    points = points[kept]
    names, groups = [kernels[index] for index in kept], np.array([families[index] for index in kept])
    mean, spread = points.mean(axis=0), points.std(axis=0)
    scale = np.where(spread > 0.0, spread, 1.0)
    standardised = (points - mean) / scale
    own = [
        float(_distances(place, standardised[groups != group]).min(initial=np.inf))
        for place, group in zip(standardised, groups, strict=True)
    ]
    limit = float(np.percentile(own, PERCENTILE)) if np.isfinite(own).all() else np.inf
    return Neighbourhood(tuple(names), standardised.astype(np.float32), mean, scale, limit)


def _distances(place: Array, points: Array) -> Array:
    return np.asarray(np.sqrt(((points - place) ** 2).mean(axis=1)))
