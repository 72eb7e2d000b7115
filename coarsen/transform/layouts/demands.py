"""Coordinates of an array's element that are proved, and what the proof demands of a launch.

All that is demanded is the same for the whole launch: it is tested once, where the kernel begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.kernel import Value


@dataclass(frozen=True)
class IsExtent:
    """A value, without a sign, is the extent of a dimension."""

    value: Value
    dimension: int


@dataclass(frozen=True)
class IsExtentNumber:
    """A number is the extent of a dimension."""

    number: int
    dimension: int


@dataclass(frozen=True)
class IsAtMostExtent:
    """A value plus a number, in the value's bits and without a sign, is at most the extent of a dimension."""

    value: Value
    dimension: int
    plus: int = 0


@dataclass(frozen=True)
class IsNumberBelow:
    """A number is less than the extent of a dimension."""

    number: int
    dimension: int


@dataclass(frozen=True)
class AreIdsWithin:
    """All global ids along a dimension of the NDRange are less than the extent of one of the array."""

    along: int
    dimension: int


@dataclass(frozen=True)
class AreIdsBelow:
    """All global ids along a dimension of the NDRange are less than 2^bits."""

    along: int
    bits: int


@dataclass(frozen=True)
class IsExtentAtMost:
    """The extent of a dimension is at most 2^bits."""

    dimension: int
    bits: int


@dataclass(frozen=True)
class AreElementsAtMost:
    """The array has at most 2^bits elements."""

    bits: int


Demand = (
    IsExtent
    | IsExtentNumber
    | IsAtMostExtent
    | IsNumberBelow
    | AreIdsWithin
    | AreIdsBelow
    | IsExtentAtMost
    | AreElementsAtMost
)
Demands = tuple[Demand, ...]


@dataclass(frozen=True)
class Coordinate:
    """The sum of a value, without a sign, and of a number; the value is less than its dimension's extent.

    The sum may be beside the row by less than its length: then the element is one of a row beside it.

    Attributes:
        value: less than the extent if what is demanded holds.
        shift: the number, of less than the extent in either direction if what is demanded holds.
        least: the value is at least that.
        room: the value plus that is less than the extent, too.
    """

    value: Value
    shift: int = 0
    least: int = 0
    room: int = 0

    @property
    def may_leave_row(self) -> bool:
        """Return True if the sum may be negative, or reach the extent."""
        return self.shift < -self.least or self.shift > self.room


@dataclass(frozen=True)
class Digits:
    """The coordinates of an element, the slowest dimension first, and what is to be tested for it."""

    coordinates: tuple[Coordinate, ...]
    demands: Demands
