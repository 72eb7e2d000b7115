"""The inputs that stand for all: a few, from the smallest to the largest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ANCHORS = 3


def anchor_rows(sizes: Sequence[float], count: int = ANCHORS) -> tuple[int, ...]:
    """Return the numbers of the inputs to measure: evenly from the smallest to the largest, each once.

    Args:
        sizes: what the inputs are ordered by.
        count: how many, at least 1.
    """
    order = np.argsort(np.asarray(sizes), kind="stable")
    places = np.linspace(0, len(order) - 1, min(count, len(order)))
    return tuple(dict.fromkeys(int(order[round(place)]) for place in places.tolist()))
