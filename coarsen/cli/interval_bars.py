"""Intervals of speed-ups as small bars of text, one below the other on a common logarithmic scale.

0.5     1    2
  ├──●──┤
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 21
# The least part of the scale that is shown on either side of 1, however narrow the intervals are.
LEAST_REACH = 1.25


@dataclass(frozen=True, slots=True)
class IntervalBars:
    """A scale from `low` to `high`, both ratios, with 1 in between."""

    low: float
    high: float

    @classmethod
    def over(cls, intervals: Sequence[tuple[float, float]]) -> IntervalBars:
        """Return the scale that shows all of some intervals."""
        lows, highs = zip(*intervals, strict=True) if intervals else ((), ())
        return cls(min((1.0 / LEAST_REACH, *lows)), max((LEAST_REACH, *highs)))

    @property
    def heading(self) -> str:
        """The labels of the scale: 1 at its place, and each end if there is room."""
        low, high, one = f"{self.low:.2g}", f"{self.high:.2g}", self._place(1.0)
        left = (low if len(low) < one else "").ljust(one)
        right = (high if len(high) < WIDTH - one - 1 else "").rjust(WIDTH - one - 1)
        return f"{left}1{right}"

    def drawn(self, low: float, middle: float, high: float) -> str:
        """Return an interval with its middle; 1 is marked where nothing else stands."""
        cells = [" "] * WIDTH
        cells[self._place(1.0)] = "│"
        first, last = self._place(low), self._place(high)
        cells[first : last + 1] = "─" * (last + 1 - first)
        cells[self._place(middle)] = "●"
        return "".join(cells)

    def _place(self, ratio: float) -> int:
        share = math.log(ratio / self.low) / math.log(self.high / self.low)
        return min(WIDTH - 1, max(0, round(share * (WIDTH - 1))))
