"""The extents of a synthetic kernel's problem, from those of its NDRange."""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import LocalSize, Size
from coarsen.opencl_bench.workloads.synthetic.axes import Guard, Loop
from coarsen.opencl_bench.workloads.synthetic.specification import Specification

NAMES = ("items_x", "items_y")
# The last trip of a grid-stride loop is not one of all items.
MISSING_ELEMENTS = 32


@dataclass(frozen=True, slots=True)
class Sizes:
    """Extents of the problem.

    `width`, `height` and their product `count` are in elements; `length` is that of a work-group's row.
    """

    global_size: tuple[int, ...]
    width: int
    height: int
    count: int
    groups: int
    length: int

    @property
    def items(self) -> int:
        """All work-items."""
        return math.prod(self.global_size)


def sizes_of(specification: Specification, size: Size, local_size: LocalSize) -> Sizes:
    """The extents at a preset's size.

    Raises:
        InvalidInputError: another local size than the kernel's own, which is written into its source.
    """
    axes = specification.axes
    if local_size != axes.local_size:
        own = "x".join(map(str, axes.local_size))
        raise InvalidInputError(f"{specification.name}: its local size is {own} and no other")
    global_size = tuple(size[name] for name, _ in zip(NAMES, local_size, strict=False))
    missing = axes.guard is Guard.SIZE or (axes.guard is Guard.EARLY_RETURN and not specification.returns_by_data)
    extents = [
        whole - group // 2 if missing else whole for whole, group in zip(global_size, local_size, strict=True)
    ]
    groups = math.prod(global_size) // specification.group_size
    length = specification.group_size * specification.trips - specification.group_size // 2
    width, height = (*extents, 1)[:2]
    count = width * height
    if axes.loop is Loop.GRID_STRIDE:
        count = width = global_size[0] * specification.trips - MISSING_ELEMENTS
    if axes.loop is Loop.LOCAL_STRIDE:
        count = width = groups * length
    return Sizes(global_size, width, height, count, groups, length)
