"""Seconds as a tuned file keeps them: JSON has no NaN, so what failed has no time."""

from __future__ import annotations

import math
from collections.abc import Iterable

from coarsen.dispatch.tuned_file import JSON


def seconds_to_json(seconds: Iterable[float]) -> list[JSON]:
    """Return times as a tuned file keeps them, None for NaN."""
    return [None if math.isnan(each) else each for each in seconds]


def seconds_from_json(kept: Iterable[float | None]) -> list[float]:
    """Return the times that a tuned file keeps, NaN for None.

    Raises:
        TypeError, ValueError: they are no numbers.
    """
    return [math.nan if each is None else float(each) for each in kept]
