"""Break-even points: where along a size another version becomes the fastest, as brackets.

    sizes   16      64      256     1024    4096
    faster  a       a       (noise) b       b          low = 64, high = 1024, then narrowed by bisection

Within a bracket neither version is known to be faster by more than noise. Times have steps, so a bracket holds a
crossing, not necessarily the only one. Where it stays wide, curves lie too close for a point to have a meaning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.trees.arrays import Array

# Gives the seconds of each version at a size; NaN for one that failed.
Measure = Callable[[int], Sequence[float] | Array]


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


def break_evens(
    measure: Measure, sizes: Sequence[int], noise: float, resolution: float = 0.0
) -> tuple[BreakEven, ...]:
    """Return the changes of the fastest version along a size.

    A version stays the fastest one until another is faster by more than noise. Where it never was faster by more
    than noise than the one that takes over, that one has been as good all along: there is no change between them,
    and the one before it has its change with the new one, if these two have one.

    Args:
        measure: is asked about all sizes, then about those between that narrow a bracket; each size once.
        sizes: at least 1 each, in ascending order.
        noise: by what share of the time one version must be faster to be known as the faster one.
        resolution: brackets of at most so many octaves aren't narrowed further; infinity for the sizes alone.

    Raises:
        InvalidInputError: sizes below 1 or not in ascending order, or a size at which no version ran.
    """
    _check(sizes)
    curves = _Curves(measure, math.log1p(noise))
    changes = _changes(curves, sizes)
    return tuple(_narrowed(curves, change, resolution) for change in changes)


def _changes(curves: _Curves, sizes: Sequence[int]) -> list[BreakEven]:
    """The changes as brackets between the given sizes."""
    found: list[BreakEven] = []
    fastest = curves.fastest(sizes[0])
    # From which size on it is the fastest.
    start = 0
    for place, size in enumerate(sizes):
        other = curves.fastest(size)
        if curves.compare(fastest, other, size) <= 0:
            continue
        change = _change(curves, fastest, other, sizes[start : place + 1])
        if change is not None:
            found.append(change)
            start = place
        elif found:
            # The new one takes the place of the one that never beat it, from the change before on.
            earlier = found.pop()
            since = [each for each in sizes[: place + 1] if each >= earlier.low]
            change = _change(curves, earlier.before, other, since)
            found.append(change or earlier)
        fastest = other
    return found


def _change(curves: _Curves, before: int, after: int, sizes: Sequence[int]) -> BreakEven | None:
    """The last size at which a version beats the one that takes over, and the next at which that one does."""
    low = max((size for size in sizes if curves.compare(before, after, size) < 0), default=None)
    if low is None:
        return None
    high = min((size for size in sizes if size > low and curves.compare(before, after, size) > 0), default=None)
    return None if high is None else BreakEven(before, after, low, high)


class _Curves:
    """Times of versions over a size, each asked for once.

    Args:
        measure: see `break_evens`.
        noise: the largest difference of log times that tells nothing.
    """

    def __init__(self, measure: Measure, noise: float) -> None:
        self._measure = measure
        self._noise = noise
        self._known: dict[int, Array] = {}

    def seconds(self, size: int) -> Array:
        """Return the versions' seconds at a size, infinity for one that failed."""
        if size not in self._known:
            seconds = np.array(self._measure(size), dtype=np.float64)
            self._known[size] = np.where(np.isnan(seconds), np.inf, seconds)
            if not np.isfinite(self._known[size]).any():
                raise InvalidInputError(f"no version ran at the size {size}")
        return self._known[size]

    def fastest(self, size: int) -> int:
        return int(self.seconds(size).argmin())

    def compare(self, before: int, after: int, size: int) -> int:
        """Return −1 where `before` is faster by more than noise, 1 where `after` is, else 0."""
        first, second = self.seconds(size)[[before, after]]
        if math.isinf(first) or math.isinf(second):
            return int(math.isinf(first)) - int(math.isinf(second))
        difference = math.log(first / second)
        return 0 if abs(difference) <= self._noise else int(math.copysign(1, difference))


def _narrowed(curves: _Curves, found: BreakEven, resolution: float) -> BreakEven:
    """Bisect: both ends together, and each by itself once a size between them tells nothing."""

    def compare(size: int) -> int:
        return curves.compare(found.before, found.after, size)

    low, high = found.low, found.high
    while (middle := _between(low, high, resolution)) is not None:
        sign = compare(middle)
        if sign == 0:
            low = _edge(low, middle, resolution, lambda size: compare(size) < 0)
            high = _edge(high, middle, resolution, lambda size: compare(size) > 0)
            break
        low, high = (middle, high) if sign < 0 else (low, middle)
    return BreakEven(found.before, found.after, low, high)


def _edge(known: int, unknown: int, resolution: float, is_known: Callable[[int], bool]) -> int:
    """Move an end from where a version is known to be faster towards where it isn't."""
    while (middle := _between(min(known, unknown), max(known, unknown), resolution)) is not None:
        known, unknown = (middle, unknown) if is_known(middle) else (known, middle)
    return known


def _between(low: int, high: int, resolution: float) -> int | None:
    """A whole number between two, halfway in octaves; None where they are near enough."""
    if high - low <= 1 or math.log2(high / low) <= resolution:
        return None
    return min(max(round(math.sqrt(low * high)), low + 1), high - 1)


def _check(sizes: Sequence[int]) -> None:
    if not sizes or sizes[0] < 1 or any(low >= high for low, high in itertools.pairwise(sizes)):
        raise InvalidInputError("sizes for break-even points are at least 1 and in ascending order")
