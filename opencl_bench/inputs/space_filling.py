"""A choice of a few points that fill the space that all of them do.

The next point is the one that lies farthest from those before it, with sizes on a logarithmic scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def space_filling(points: Sequence[Mapping[str, float]], weights: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the indices of points that fill the space of all, the first that of the greatest weight.

    Args:
        points: numbers by name, the same names in all.
        weights: decide between points that lie as far, and where points are alike.
        most: how many at most.
    """
    if not points:
        return ()
    scaled = _scaled(points)
    order = [max(range(len(points)), key=lambda index: (weights[index], -index))]
    distances = np.full(len(points), np.inf)
    left = set(range(len(points))) - set(order)
    while left and len(order) < most:
        distances = np.minimum(distances, np.linalg.norm(scaled - scaled[order[-1]], axis=1))
        # Rounded, so that what is as far on every machine is as far here.
        farthest = max(left, key=lambda index: (round(float(distances[index]), 9), weights[index], -index))
        order.append(farthest)
        left.remove(farthest)
    return tuple(order)


def _scaled(points: Sequence[Mapping[str, float]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The points in the unit cube, on a logarithmic scale."""
    numbers = np.array([[each[name] for name in points[0]] for each in points], np.float64).reshape(
        len(points), -1
    )
    places = np.sign(numbers) * np.log2(1 + np.abs(numbers))
    lengths = np.ptp(places, axis=0)
    scaled: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    scaled = (places - places.min(axis=0)) / np.where(lengths > 0, lengths, 1)
    return scaled
