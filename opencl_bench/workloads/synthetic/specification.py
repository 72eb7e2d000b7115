"""Complete specification of a synthetic kernel: the source and the workload follow from it."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.synthetic.axes import (
    DIVERGENT_LOOPS,
    GATHERS,
    LEVELS,
    REDUCTIONS,
    TRIP_LOOPS,
    UNIFORM_LOOPS,
    WHOLE_NUMBERS,
    Access,
    Axes,
    Element,
    Guard,
    LocalMemory,
    Loop,
    Store,
)

PREFIX = "synthetic"


class Combination(enum.StrEnum):
    """The way in which the elements of a loop become one."""

    ADD = "add"
    MAXIMUM = "maximum"


class Partner(enum.StrEnum):
    """Whose staged element an item reads from a tile."""

    REVERSED = "reversed"
    ROTATED = "rotated"
    NEIGHBOUR = "neighbour"


@dataclass(frozen=True, slots=True)
class Specification:
    """A value of each axis, and the numbers that they leave open.

    `trips` is how often the loop runs (the most trips where it differs between items), `inner_trips` how often
    the inner one of two does. `stride` is that of a strided access or store, in elements; `fields` the scalars of
    a record, `radius` that of a neighbourhood, `block` the elements of a block. `selected` of 1024 items pass a
    guard that depends on data. `chains` is how many independent chains of operations there are.

    `static_local`: local memory is declared in the kernel. `sizes_from_ndrange`: the kernel asks for its sizes
    instead of taking them as arguments. `constant_weights`: the second operand is in constant memory.
    `block_argument`: the size of a block is an argument, so that divisions stay divisions. `returns_by_data`: an
    early return looks at data, not at the size.
    """

    seed: int
    index: int
    axes: Axes
    trips: int
    inner_trips: int
    stride: int
    fields: int
    radius: int
    block: int
    selected: int
    chains: int
    combination: Combination
    partner: Partner
    static_local: bool
    sizes_from_ndrange: bool
    constant_weights: bool
    block_argument: bool
    returns_by_data: bool

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{PREFIX}-{self.seed}-{self.index}"

    @property
    def kernel(self) -> str:
        """The kernel function's name: what it does, and the number that makes it the only one."""
        axes = self.axes
        words = [axes.access.value]
        words += [] if axes.loop is Loop.NONE else [axes.loop.value]
        words += [] if axes.local_memory is LocalMemory.NONE else [axes.local_memory.value]
        return "_".join([*words, str(self.index)])

    @property
    def family(self) -> str:
        """The structural class: kernels of one are variations of each other."""
        axes = self.axes
        access = "gather" if axes.access in GATHERS else axes.access.value
        return "-".join([PREFIX, access, _loop_class(axes.loop), _local_class(axes.local_memory)])

    @property
    def group_size(self) -> int:
        """Work-items of a work-group."""
        return math.prod(self.axes.local_size)

    @property
    def planes(self) -> int:
        """The number of elements that an item reads one after the other, at most."""
        if self.is_shared_tile:
            return self.trips * self.group_size
        if self.axes.loop is Loop.NESTED:
            return self.trips * self.inner_trips
        return self.trips if self.axes.loop in TRIP_LOOPS else 1

    @property
    def is_whole_number(self) -> bool:
        """Return True if elements are integers that are computed with as such."""
        return self.axes.element in WHOLE_NUMBERS

    @property
    def is_pair_in_place(self) -> bool:
        """Return True if an item replaces a pair of elements, as a step of a fast transform does."""
        axes = self.axes
        return (
            axes.access is Access.BLOCK_CYCLIC
            and axes.loop is Loop.NONE
            and axes.store is Store.IN_PLACE
            and axes.local_memory in (LocalMemory.NONE, LocalMemory.TABLE)
        )

    @property
    def is_shared_tile(self) -> bool:
        """Return True if every item reads all elements of each tile."""
        return self.axes.access is Access.BROADCAST and self.axes.local_memory is LocalMemory.TILE

    @property
    def is_single_buffer(self) -> bool:
        """Return True if an item replaces the one element that it reads."""
        axes = self.axes
        return (
            axes.access is Access.COALESCED
            and axes.loop is Loop.NONE
            and axes.store is Store.IN_PLACE
            and axes.local_memory in (LocalMemory.NONE, LocalMemory.TABLE)
        )

    @property
    def input_name(self) -> str:
        """The buffer that elements are read from."""
        return "data" if self.is_single_buffer or self.is_pair_in_place else "input"

    @property
    def scratch_type(self) -> str:
        """The OpenCL C type of what local memory holds."""
        return self.scalar_type if self.axes.local_memory is LocalMemory.TABLE else self.compute_type

    @property
    def scratch_elements(self) -> int:
        """The number of elements that local memory holds; 0 where there is none."""
        axes = self.axes
        if axes.local_memory is LocalMemory.NONE:
            return 0
        if axes.local_memory is LocalMemory.TILE and axes.access is Access.STENCIL:
            return self.group_size // axes.local_size[0] * (axes.local_size[0] + 2 * self.radius)
        if self.is_transposed_tile:
            return self.group_size + axes.local_size[1]
        return self.group_size

    @property
    def is_transposed_tile(self) -> bool:
        """Return True if a square tile is staged by rows and read by columns."""
        axes = self.axes
        staged = axes.access is Access.TRANSPOSED and axes.local_memory is LocalMemory.TILE
        return staged and axes.dimensions == 2

    @property
    def has_padding(self) -> bool:
        """Return True if the input is larger than the problem by a neighbourhood on either side."""
        axes = self.axes
        if axes.access is not Access.STENCIL:
            return False
        is_staged = axes.local_memory is LocalMemory.TILE
        return is_staged or axes.guard is not Guard.INTERIOR or axes.loop is not Loop.NONE

    @property
    def compute_type(self) -> str:
        """The OpenCL C type that is computed with."""
        return "float4" if self.axes.element is Element.UCHAR4 else self.axes.element.value

    @property
    def scalar_type(self) -> str:
        """The OpenCL C type of one component of what is computed with."""
        return self.compute_type.removesuffix("4")

    @property
    def is_vector(self) -> bool:
        """Return True if elements are vectors of four."""
        return self.compute_type.endswith("4")


def _loop_class(loop: Loop) -> str:
    if loop in UNIFORM_LOOPS:
        return "uniform"
    return "divergent" if loop in DIVERGENT_LOOPS else loop.value


def _local_class(local_memory: LocalMemory) -> str:
    if local_memory in REDUCTIONS:
        return "reduction"
    return "levels" if local_memory in LEVELS else local_memory.value
