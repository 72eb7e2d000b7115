"""Conditions on the ids of work-items, each with the share of work-items for which it holds.

What is known along an id is kept, so that conditions on the same id are not taken for independent:

    x < n && x < m      the smaller share
    x > 0 && x < n - 1  what is left over of all: different ends, or places, are left out
    x < n && y < m      the product
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    at_least_zero,
    difference,
    maximum,
    minimum,
    product,
    total,
)


class Place(enum.Enum):
    """Which work-items along an id a condition holds for."""

    FIRST = "the first"
    LAST = "the last"
    SINGLE = "a single one"
    REST = "all but a single one"
    PART = "all but some at both ends and some single ones"
    OTHER = "others"


_OPPOSITE = {
    Place.FIRST: Place.LAST,
    Place.LAST: Place.FIRST,
    Place.SINGLE: Place.REST,
    Place.REST: Place.SINGLE,
    Place.PART: Place.OTHER,
    Place.OTHER: Place.OTHER,
}
# Of conditions that no single id decides: they are taken to have nothing to do with each other.
NO_ID = ""


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left out along an id: the shares of work-items at the start, at the end, and of single ones."""

    start: Expression = ZERO
    end: Expression = ZERO
    single: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Region:
    """The work-items along an id for which a condition holds.

    Attributes:
        share: of all work-items.
        others: the share of those for which it doesn't hold.
        place: where along the id they are.
        left: what a part leaves out; None elsewhere.
    """

    share: Expression
    others: Expression
    place: Place
    left: _Left | None = None

    @property
    def opposite(self) -> Region:
        """The others."""
        return Region(self.others, self.share, _OPPOSITE[self.place])

    @property
    def left_out(self) -> _Left | None:
        """Return what it leaves out along the id, None where that isn't known."""
        match self.place:
            case Place.FIRST:
                return _Left(end=self.others)
            case Place.LAST:
                return _Left(start=self.others)
            case Place.REST:
                return _Left(single=self.others)
            case _:
                return self.left


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that holds where all regions do, or, if it is negated, where not all of them do.

    Attributes:
        regions: by the id along which they are, `NO_ID` for any other.
        is_negated: only where there is more than one.
    """

    regions: Mapping[str, Region]
    is_negated: bool = False

    @property
    def true(self) -> Expression:
        """The share of work-items for which it holds."""
        share = product(region.share for region in self.regions.values())
        return difference(ONE, share) if self.is_negated else share

    @property
    def false(self) -> Expression:
        """The share of work-items for which it doesn't."""
        if len(self.regions) == 1:
            return next(iter(self.regions.values())).others
        return self.opposite.true

    @property
    def opposite(self) -> Condition:
        """The opposite condition."""
        if len(self.regions) == 1:
            return Condition({axis: region.opposite for axis, region in self.regions.items()})
        return Condition(self.regions, not self.is_negated)

    def and_also(self, other: Condition) -> Condition:
        """Return the condition that both hold."""
        if self.true == ONE:
            return other
        neither = _joined_boxes(self.opposite, other.opposite) if self.is_negated and other.is_negated else None
        if neither is not None:
            return neither.opposite
        for whole, part in ((self, other), (other, self)):
            if part.is_negated and not whole.is_negated and _are_nested(whole, part):
                # What is left of a box without a smaller one.
                return of_share(at_least_zero(difference(whole.true, part.opposite.true)))
        merged = dict(self._plain.regions)
        for axis, region in other._plain.regions.items():
            merged[axis] = _both(merged[axis], region, axis) if axis in merged else region
        return Condition(merged)

    def or_else(self, other: Condition) -> Condition:
        """Return the condition that one of both holds."""
        both = _joined_boxes(self, other)
        return both if both is not None else self.opposite.and_also(other.opposite).opposite

    @property
    def _plain(self) -> Condition:
        """The condition without a negation that stands before several regions."""
        return of_share(self.true, self.false) if self.is_negated else self


def of_share(share: Expression, others: Expression | None = None) -> Condition:
    """Return a condition of which no more than its share is known."""
    rest = difference(ONE, share) if others is None else others
    return Condition({NO_ID: Region(share, rest, Place.OTHER)})


def _are_nested(first: Condition, second: Condition) -> bool:
    """Return True if regions of two conditions are along the same ids, each within the other's or around it."""
    if first.regions.keys() != second.regions.keys() or len(first.regions) == 1:
        return False
    pairs = [(region, second.regions[axis]) for axis, region in first.regions.items()]
    ends = (Place.FIRST, Place.LAST)
    return all(one == other or (one.place is other.place and one.place in ends) for one, other in pairs)


def _joined_boxes(first: Condition, second: Condition) -> Condition | None:
    """Return where one of two boxes along the same ids holds, if they differ along one id at most.

    None for others.
    """
    if first.is_negated or second.is_negated or not _are_nested(first, second):
        return None
    axes = [axis for axis, region in first.regions.items() if region != second.regions[axis]]
    # Both regions along the id together.
    wider = {a: _both(first.regions[a].opposite, second.regions[a].opposite, a).opposite for a in axes}
    return Condition({**first.regions, **wider}) if len(axes) <= 1 else None


def _both(first: Region, second: Region, axis: str) -> Region:
    """Return where two regions along the same id overlap."""
    if ONE in (first.share, second.share):
        return second if first.share == ONE else first
    if axis == NO_ID:
        share = product([first.share, second.share])
        return Region(share, difference(ONE, share), Place.OTHER)
    left, also = first.left_out, second.left_out
    is_same = first.place is second.place and first.place in (Place.FIRST, Place.LAST)
    if is_same or Place.SINGLE in (first.place, second.place):
        share, place = minimum(first.share, second.share), first.place if is_same else Place.OTHER
        return Region(share, difference(ONE, share), place)
    if left is None or also is None:
        share = product([first.share, second.share])
        return Region(share, difference(ONE, share), Place.OTHER)
    parts = _Left(maximum(left.start, also.start), maximum(left.end, also.end), total([left.single, also.single]))
    share = at_least_zero(difference(ONE, total([parts.start, parts.end, parts.single])))
    return Region(share, difference(ONE, share), Place.PART, parts)
