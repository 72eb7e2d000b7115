"""An array whose elements work-groups read as boxes, as a part of a random kernel's tree.

    field[(y + k + 1) * width + (x + 2)]     two axes: `width` times y and a window's counter k, 1 times x

An element's index is never negative, since factors, ids and a window's least counter with a tap's offset aren't;
and the buffer ends with the last element that a launch reads (`last_read`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.fuzz.launches import Launch

IndexType: TypeAlias = Literal["int", "uint", "size_t"]
IdKind: TypeAlias = Literal["global", "counted", "tile", "local", "group"]
ElementType: TypeAlias = Literal["uint", "uchar", "ushort", "ulong", "float", "uint2"]
# Ids that are counted backwards are subtracted from it: it is more than any.
BACKWARDS_FROM = 999


@dataclass(frozen=True)
class Id:
    """A number of the work-item's, or of its group's, along a dimension.

    `kind` "global": its id; "counted": that less the launch's offset; "tile": the group's number times `step`, and
    its id in the group; "local": the latter alone; "group": the group's number.
    """

    kind: IdKind
    dimension: int
    step: int = 1
    backwards: bool = False

    def greatest(self, launch: Launch) -> int:
        """Return the greatest that there is in a launch, or more."""
        if self.backwards:
            return BACKWARDS_FROM
        if self.dimension >= len(launch.local_size):
            return 0
        local, groups = launch.local_size[self.dimension], launch.groups(self.dimension)
        offset = 0 if launch.offset is None else launch.offset[self.dimension]
        return {
            "global": offset + local * groups - 1,
            "counted": local * groups - 1,
            "tile": (groups - 1) * self.step + local - 1,
            "local": local - 1,
            "group": groups - 1,
        }[self.kind]


@dataclass(frozen=True)
class Axis:
    """Ids, each of which moves by `count` elements, or by so many times the argument `width`."""

    count: int
    times_width: bool
    ids: tuple[Id, ...]

    def factor(self, width: int) -> int:
        """Return how many elements a step along it is."""
        return self.count * (width if self.times_width else 1)


@dataclass(frozen=True)
class Window:
    """A loop around reads, whose counter is added along an axis."""

    counter: str
    axis: int
    least: int
    rounds: int
    form: Literal["<", "<=", "!=", "down"]

    @property
    def greatest(self) -> int:
        """The counter's last value, or the first of one that counts down."""
        return self.least + self.rounds - 1


@dataclass(frozen=True)
class Bound:
    """A condition on the way to taps: where they are along an axis is less than `limit`.

    `has_counters` counts the windows' counters along it, too, so that it stands in the innermost loop; else it
    stands around the loops.
    """

    axis: int
    limit: int
    has_counters: bool


@dataclass(frozen=True)
class Tap:
    """A read in the midst of the windows: how far off along each axis, and what it is multiplied by."""

    offsets: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Field:
    """The array, its indices' type, and how far apart elements are. `width` is the argument's value."""

    element: ElementType
    index: IndexType
    axes: tuple[Axis, ...]
    width: int


def last_read(
    field: Field, windows: Sequence[Window], taps: Sequence[Tap], launch: Launch, bounds: Sequence[Bound] = ()
) -> int:
    """Return the greatest index that the taps in some windows have in a launch, or more."""

    def along(tap: Tap) -> Iterator[int]:
        for number, axis in enumerate(field.axes):
            ids = sum(each.greatest(launch) for each in axis.ids)
            counters = sum(each.greatest for each in windows if each.axis == number)
            for bound in bounds:
                if bound.axis == number:
                    ids = min(ids, bound.limit - 1 - (counters if bound.has_counters else 0))
            yield axis.factor(field.width) * (ids + counters + tap.offsets[number])

    return max((sum(along(tap)) for tap in taps), default=0)


def weights_read(windows: Sequence[Window]) -> int:
    """Return how many weights the windows of a stencil have, one for each of their rounds."""
    count = 1
    for window in windows:
        count *= window.rounds
    return count
