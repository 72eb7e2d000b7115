"""The frame of a kernel of free launch: its dimensions, names of ids and extents, and the guard of its items."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.free_launch.draws import Draws
from coarsen.opencl_bench.workloads.free_launch.parts import Buffer, Contents, Elements, Extents, Trips
from coarsen.opencl_bench.workloads.synthetic.text import block

IDS = ("x", "y", "z")
EXTENTS = ("width", "height", "depth")


class Guard(enum.StrEnum):
    """How items beyond the extents are kept from working; none where there are no such items."""

    NONE = "none"
    CONDITION = "condition"
    RETURN = "return"


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a mechanism.

    `asks_ndrange`: without a guard, the kernel asks the NDRange for the extents instead of taking arguments.
    """

    dimensions: int
    guard: Guard
    asks_ndrange: bool

    @property
    def inside(self) -> str:
        """The condition that an item is within the extents; empty where all are."""
        if self.guard is Guard.NONE:
            return ""
        return " && ".join(f"{at} < {end}" for at, end in self.axes)

    @property
    def axes(self) -> list[tuple[str, str]]:
        """Id and extent along each dimension."""
        return list(zip(IDS, EXTENTS, strict=True))[: self.dimensions]

    @property
    def count(self) -> str:
        """The number of all elements."""
        return ("width", "(width * height)", "(width * height * depth)")[self.dimensions - 1]

    @property
    def position(self) -> str:
        """The item's own element."""
        return ("x", "y * width + x", "(z * height + y) * width + x")[self.dimensions - 1]

    @property
    def lane(self) -> str:
        """The item's number in its work-group."""
        line = "get_local_id(0)"
        if self.dimensions > 1:
            line = f"get_local_id(1) * get_local_size(0) + {line}"
        return line if self.dimensions < 3 else f"get_local_id(2) * get_local_size(0) * get_local_size(1) + {line}"

    @property
    def group_size(self) -> str:
        """The number of items of a work-group."""
        return " * ".join(f"get_local_size({d})" for d in range(self.dimensions))

    @property
    def group(self) -> str:
        """The number of the item's work-group."""
        line = "get_group_id(0)"
        if self.dimensions > 1:
            line = f"get_group_id(1) * get_num_groups(0) + {line}"
        plane = "get_num_groups(0) * get_num_groups(1)"
        return line if self.dimensions < 3 else f"get_group_id(2) * {plane} + {line}"

    def within(self, lines: list[str]) -> list[str]:
        """Statements that items beyond the extents don't run."""
        return block(f"if ({self.inside})", lines) if self.inside else lines

    def loaded(self, value: str, otherwise: str) -> str:
        """An expression that reads an item's element, another one for items beyond the extents."""
        return f"{self.inside} ? {value} : {otherwise}" if self.inside else value


def draw_frame(draws: Draws, dimensions: int, *, has_barriers: bool, is_whole: bool) -> Frame:
    """Draw a guard.

    Args:
        draws: the stream.
        dimensions: of the NDRange.
        has_barriers: no item may return early.
        is_whole: whole work-groups are needed: there is no guard.
    """
    guards = (Guard.NONE, Guard.CONDITION) if has_barriers else (Guard.NONE, Guard.CONDITION, Guard.RETURN)
    guard = draws.pick(guards)
    return Frame(dimensions, Guard.NONE if is_whole else guard, draws.chance(0.3))


def count_of(extents: Extents) -> int:
    """All elements of a problem."""
    return extents.count


def times(factor: int) -> Elements:
    """So many times all elements."""
    return lambda extents: factor * extents.count


def fixed(number: int) -> Elements:
    """A number that no extent decides."""
    return lambda _extents: number


def by_trips(extents: Extents) -> int:
    """Elements of all trips."""
    return extents.count * extents.trips


def draw_trips(draws: Draws, most: int = 4096, most_constant: int = 128) -> Trips:
    """Draw how often a loop runs, its logarithm uniform from 1 on; constants only up to their own limit."""
    if draws.chance(0.65):
        return Trips(draws.log_uniform(1, most), True)
    return Trips(draws.log_uniform(1, min(most, most_constant)), False)


def output(
    kind: str,
    name: str = "output",
    contents: Contents = Contents.UNWRITTEN,
    elements: Elements = count_of,
) -> Buffer:
    """A buffer that the kernel writes."""
    return Buffer(name, kind, elements, contents, is_output=True)
