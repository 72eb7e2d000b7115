"""Break-even points: where along a size another version becomes the fastest, as brackets.

    sizes   16      64      256     1024    4096
    faster  a       a       (noise) b       b          low = 64, high = 1024

Within a bracket neither version is known to be faster by more than noise. Times have steps, so a bracket holds a
crossing, not necessarily the only one. Where it is wide, curves lie too close for a point to have a meaning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array


@dataclass(frozen=True, slots=True)
class BreakEven:
    """A change of the fastest version.

    Attributes:
        before: the number of the version that is faster below.
        after: of the one that is faster above.
        low: the largest size known at which `before` is faster by more than noise.
        high: the smallest size known at which `after` is.
    """

    before: int
    after: int
    low: int
    high: int

    @property
    def octaves(self) -> float:
        """Return the width of the bracket: it is uncertain by so much."""
        return math.log2(self.high / self.low)

    @property
    def middle(self) -> float:
        """Return the geometric mean of the bracket's ends."""
        return math.sqrt(self.low * self.high)


def break_evens(sizes: Sequence[int], seconds: Array, noise: float) -> tuple[BreakEven, ...]:
    """Return the changes of the fastest version along a size.

    A version stays the fastest one until another is faster by more than noise. Where it never was faster by more
    than noise than the one that takes over, that one has been as good all along: there is no change between them,
    and the one before it has its change with the new one, if these two have one.

    Args:
        sizes: at least 1 each, in ascending order.
        seconds: of each size and version, (sizes, versions); NaN for one that failed.
        noise: by what share of the time one version must be faster to be known as the faster one.

    Raises:
        InvalidInputError: sizes below 1 or not in ascending order, or a size at which no version ran.
    """
    if not sizes or sizes[0] < 1 or any(low >= high for low, high in itertools.pairwise(sizes)):
        raise InvalidInputError("sizes for break-even points are at least 1 and in ascending order")
    curves = _Curves(sizes, np.where(np.isnan(seconds), np.inf, seconds), math.log1p(noise))
    if nowhere := [size for size, row in zip(sizes, curves.seconds, strict=True) if not np.isfinite(row).any()]:
        raise InvalidInputError(f"no version ran at the size {nowhere[0]}")
    found: list[BreakEven] = []
    fastest = curves.fastest(0)
    # From which size on it is the fastest.
    start = 0
    for place in range(len(sizes)):
        other = curves.fastest(place)
        if curves.compare(fastest, other, place) <= 0:
            continue
        change = curves.change(fastest, other, range(start, place + 1))
        if change is not None:
            found.append(change)
            start = place
        elif found:
            # The new one takes the place of the one that never beat it, from the change before on.
            earlier = found.pop()
            since = range(sizes.index(earlier.low), place + 1)
            found.append(curves.change(earlier.before, other, since) or earlier)
        fastest = other
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Curves:
    """Times of versions over a size, infinity for one that failed; `noise` is a difference of log times."""

    sizes: Sequence[int]
    seconds: Array
    noise: float

    def fastest(self, place: int) -> int:
        return int(self.seconds[place].argmin())

    def compare(self, before: int, after: int, place: int) -> int:
        """Return −1 where `before` is faster by more than noise, 1 where `after` is, else 0."""
        first, second = self.seconds[place, [before, after]]
        if math.isinf(first) or math.isinf(second):
            return int(math.isinf(first)) - int(math.isinf(second))
        difference = math.log(first / second)
        return 0 if abs(difference) <= self.noise else int(math.copysign(1, difference))

    def change(self, before: int, after: int, places: range) -> BreakEven | None:
        """Return the last size at which a version beats the other, and the next at which that one does."""
        signs = {place: self.compare(before, after, place) for place in places}
        low = max((place for place, sign in signs.items() if sign < 0), default=None)
        if low is None:
            return None
        high = min((place for place, sign in signs.items() if place > low and sign > 0), default=None)
        return None if high is None else BreakEven(before, after, self.sizes[low], self.sizes[high])
