"""Kernels that a model learned from, by their distance from another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.trees.arrays import Array


@dataclass(frozen=True)
class Neighbour:
    """A training kernel and its distance."""

    kernel: str
    distance: float


def nearest_kernels(kernels: Sequence[str], distances: Array, count: int) -> tuple[Neighbour, ...]:
    """Return the nearest kernels, each once.

    Args:
        kernels: the name of each point's kernel, k of them; one may have several points.
        distances: of the points, (k,).
        count: how many kernels at the most.
    """
    found: dict[str, float] = {}
    for number in np.argsort(distances, kind="stable"):
        found.setdefault(kernels[number], float(distances[number]))
        if len(found) == count:
            break
    return tuple(Neighbour(kernel, distance) for kernel, distance in found.items())
