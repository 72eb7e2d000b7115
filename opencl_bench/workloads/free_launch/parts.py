"""The parts of a kernel of free launch: extents, parameters, and the sketch that a mechanism makes."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.benchmark import LocalSize


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
