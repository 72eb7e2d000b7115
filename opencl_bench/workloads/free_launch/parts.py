"""The parts of a kernel of free launch: extents, parameters, the sketch of a mechanism, the frame around it."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.free_launch.elements import Draws, block
from coarsen.tuning.workload.benchmark import LocalSize

IDS = ("x", "y", "z")
EXTENTS = ("width", "height", "depth")


@dataclass(frozen=True, slots=True)
class Extents:
    """The extents of a problem in elements, 1 along what the kernel lacks, and how often its loop runs."""

    width: int
    height: int = 1
    depth: int = 1
    trips: int = 1

    @property
    def count(self) -> int:
        """All elements of the problem."""
        return self.width * self.height * self.depth


class Contents(enum.Enum):
    """The contents of a buffer before the launch."""

    UNWRITTEN = enum.auto()
    ZEROS = enum.auto()
    NUMBERS = enum.auto()
    WEIGHTS = enum.auto()
    NEAR_INDICES = enum.auto()
    FAR_INDICES = enum.auto()
    PERMUTATION = enum.auto()
    KEYS = enum.auto()
    LENGTHS = enum.auto()
    STARTS = enum.auto()
    SORTED = enum.auto()


Elements = Callable[[Extents], int]


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of scalars or vectors.

    Attributes:
        name: of the parameter.
        type: of an element as the host sees it: `float`, `uint4`.
        elements: how many at some extents.
        contents: before the launch.
        limit: what indices, and the keys of a buffer, stay below; the number of elements if None.
        is_output: whether the kernel writes it.
        space: the address space.
        pointee: the element's type in the kernel where that is another, a record for one.
    """

    name: str
    type: str
    elements: Elements
    contents: Contents = Contents.NUMBERS
    limit: Elements | None = None
    is_output: bool = False
    space: str = "global"
    pointee: str = ""

    @property
    def declaration(self) -> str:
        """The kernel's declaration of it."""
        const = "" if self.is_output or self.space == "constant" else " const"
        return f"{self.space}{const} {self.pointee or self.type} *{self.name}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of type uint that the host passes."""

    name: str
    value: Elements

    @property
    def declaration(self) -> str:
        """The kernel's declaration of it."""
        return f"uint {self.name}"


@dataclass(frozen=True, slots=True)
class Scratch:
    """Local memory: an argument as large as a local size asks for, or declared as large as any asks for."""

    name: str
    type: str
    elements: Callable[[LocalSize], int]
    is_argument: bool

    @property
    def declaration(self) -> str:
        """The kernel's declaration of the argument."""
        return f"local {self.type} *{self.name}"


@dataclass(frozen=True, slots=True)
class Trips:
    """How often a loop runs; by an argument, if symbolic, or a constant of the source."""

    count: int
    is_symbolic: bool

    @property
    def text(self) -> str:
        """The bound of the loop."""
        return "trips" if self.is_symbolic else str(self.count)


NO_TRIPS = Trips(1, False)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a mechanism makes of a kernel; the frame adds ids, guards and the signature.

    Attributes:
        variant: the mechanism's kind, a part of the family.
        body: statements of a work-item.
        buffers: the outputs first.
        before: types and functions in front of the kernel.
        scratch: its local memory.
        trips: of its loop.
        cost: of a work-item, in units of about 0.1 ns on a CPU.
        guards_itself: whether the body keeps items beyond the extents from working, since barriers are in it.
        depends_on_group: whether results, or the number of items, differ between local sizes.
        item_per_group: whether the extents count work-groups along dimension 0.
    """

    variant: str
    body: list[str]
    buffers: tuple[Buffer, ...]
    before: list[str]
    cost: float
    trips: Trips = NO_TRIPS
    scratch: tuple[Scratch, ...] = ()
    guards_itself: bool = False
    depends_on_group: bool = False
    item_per_group: bool = False


LOCAL_SIZES: dict[int, tuple[LocalSize, ...]] = {
    1: ((32,), (64,), (128,), (256,)),
    2: ((16, 4), (8, 8), (32, 8), (64, 4), (16, 16), (32, 4), (64, 1), (8, 16)),
    3: ((4, 4, 4), (8, 4, 4), (16, 4, 2), (8, 8, 4), (32, 2, 2)),
}
# The least extents that all of these divide.
GRANULES: dict[int, LocalSize] = {
    dimensions: tuple(max(size[d] for size in sizes) for d in range(dimensions))
    for dimensions, sizes in LOCAL_SIZES.items()
}
LEAST_ITEMS = min(math.prod(size) for sizes in LOCAL_SIZES.values() for size in sizes)
MOST_ITEMS = max(math.prod(size) for sizes in LOCAL_SIZES.values() for size in sizes)


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
