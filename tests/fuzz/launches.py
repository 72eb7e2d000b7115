"""Launches of random kernels, uncoarsened and coarsened."""

from __future__ import annotations

import random
from dataclasses import dataclass

from coarsen.variant.coarsening import Coarsening, Configuration, Level

# Local sizes, numbers of groups: 32 items a group and 96 in all at most, for which `data` and `shared` have room.
_LAUNCHES = {
    1: (
        ((12,), (1, 2, 3, 4, 6, 8)),
        ((24,), (1, 2, 3, 4)),
        ((16,), (2, 3, 4, 6)),
        ((8,), (3, 4, 6, 12)),
        ((32,), (2, 3)),
    ),
    2: (((4, 6), (1, 2)), ((6, 4), (1, 2)), ((8, 2), (1, 2)), ((2, 12), (1, 2)), ((4, 4), (1, 2))),
}


@dataclass(frozen=True)
class Launch:
    """An uncoarsened launch; sizes in work-items."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    offset: tuple[int, ...] | None

    def groups(self, dimension: int) -> int:
        """The number of work-groups along a dimension."""
        return self.global_size[dimension] // self.local_size[dimension]


def draw_launch(chosen: random.Random, dimensions: int, may_have_offset: bool) -> Launch:
    """A random launch in one or two dimensions."""
    local_size, numbers = chosen.choice(_LAUNCHES[dimensions])
    global_size = tuple(size * chosen.choice(numbers) for size in local_size)
    has_offset = chosen.random() < 0.4 and may_have_offset
    offset = tuple(chosen.randrange(9) for _ in local_size) if has_offset else None
    return Launch(global_size, local_size, offset)


@dataclass(frozen=True)
class _Axis:
    """What is done along one dimension: the coarsening of work-items and that of work-groups, if any."""

    items: Coarsening
    groups: Coarsening


def _axis(chosen: Configuration, dimension: int) -> _Axis:
    along = {coarsening.level: coarsening for coarsening in chosen if coarsening.dimension == dimension}
    none = Coarsening(1, dimension)
    return _Axis(along.get(Level.ITEM, none), along.get(Level.GROUP, none))


def divides(launch: Launch, chosen: Configuration) -> bool:
    """Whether the sizes divide, so that no guard is needed."""
    for dimension, size in enumerate(launch.local_size):
        axis = _axis(chosen, dimension)
        if size % (axis.items.factor * axis.items.stride) or launch.groups(dimension) % axis.groups.factor:
            return False
    return True


def sizes_of(
    launch: Launch, chosen: Configuration, any_size: bool, free_local_size: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Global and local size of the coarsened launch, as `coarsen.CoarsenedKernel` says."""
    along = [
        _sizes_along(launch, dimension, _axis(chosen, dimension), any_size, free_local_size)
        for dimension in range(len(launch.local_size))
    ]
    return tuple(whole for whole, _ in along), tuple(part for _, part in along)


def _sizes_along(launch: Launch, dimension: int, axis: _Axis, any_size: bool, free: int) -> tuple[int, int]:
    size, local, factor = launch.global_size[dimension], launch.local_size[dimension], axis.items.factor
    if any_size and factor > 1:
        if axis.groups.factor > 1:
            # Whole groups of coarsened items are merged, each with room for whole strides.
            local = free * axis.items.stride
            return _ceil(size, factor * axis.groups.factor * local) * local, local
        needed = _ceil(size, factor * axis.items.stride) * axis.items.stride
        return _ceil(needed, free) * free, free
    local //= factor
    return _ceil(launch.groups(dimension), axis.groups.factor) * local, local


def _ceil(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)
