"""Speed-ups of coarsened kernels by the direction in which a fact of their compilation changed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.models.compiled.inputs import CHANGED_FACTS
from coarsen.opencl_bench.studies.compiled_changes import ChangedRow

# A row loses below this speed-up.
LOSS = math.log2(0.95)
_SIGNS = {-1: "fell", 0: "same", 1: "rose"}


@dataclass(frozen=True, slots=True)
class Direction:
    """The rows in which a fact changed in one direction.

    Args:
        fact: its name.
        direction: "fell", "same" or "rose".
        rows: their number.
        kernels: that they are of.
        mean: the geometric mean of their speed-ups.
        losing: the share that loses more than 5 %.
    """

    fact: str
    direction: str
    rows: int
    kernels: int
    mean: float
    losing: float


def directions(rows: Sequence[ChangedRow]) -> list[Direction]:
    """Return the directions of each fact that changes in more than one."""
    every = (list(_of_fact(rows, fact)) for fact in CHANGED_FACTS)
    return [found for of_fact in every if len(of_fact) > 1 for found in of_fact]


def _of_fact(rows: Sequence[ChangedRow], fact: str) -> Iterator[Direction]:
    for sign, direction in _SIGNS.items():
        chosen = [row for row in rows if (change := row.changes[fact]) is not None and _sign(change) == sign]
        if chosen:
            gains = [row.gain for row in chosen]
            losing = sum(1 for gain in gains if gain < LOSS) / len(gains)
            kernels = len({row.kernel for row in chosen})
            yield Direction(fact, direction, len(chosen), kernels, 2 ** statistics.fmean(gains), losing)


def _sign(change: float) -> int:
    return (change > 0) - (change < 0)
