"""The lanes of a sub-group: which work-items they are, before and after coarsening.

    local size 16x16, 32 lanes     lane 17 is work-item (1, 1)
    factor 4, stride 2, replica 1  local id 3 stands for local id (3 / 2)·8 + 3 % 2 + 2 = 11

Lanes are numbered as all vendors do: dimension 0 first, sub-groups one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level

Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LaneItem:
    """A work-item of the original launch that a lane stands for.

    Attributes:
        local: its local ids.
        group: how many groups further on it is than the first of those that were merged.
    """

    local: Place
    group: Place = (0, 0, 0)


def lane_places(local_size: Place, lanes: int, first: int = 0) -> tuple[Place, ...]:
    """Return the local ids of the lanes of a sub-group; fewer than `lanes` at the end of the work-group.

    Args:
        local_size: of the launch, in work-items.
        lanes: of a full sub-group.
        first: the number of the first lane in the work-group.
    """
    width, height, depth = local_size
    end = min(first + lanes, width * height * depth)
    return tuple((n % width, n // width % height, n // (width * height)) for n in range(first, end))


def uncoarsened_size(local_size: Place, coarsenings: Sequence[Coarsening]) -> Place:
    """Return the local size of the original launch for one of the coarsened kernel."""
    sizes = list(local_size)
    for each in coarsenings:
        if each.level is Level.ITEM:
            sizes[each.dimension] *= each.factor
    return sizes[0], sizes[1], sizes[2]


def coarsened_size(local_size: Place, coarsenings: Sequence[Coarsening]) -> Place:
    """Return the local size of the coarsened launch for one of the original kernel.

    Raises:
        InvalidInputError: a factor does not divide it, or a stride what is left.
    """
    sizes = list(local_size)
    for each in coarsenings:
        if each.level is Level.ITEM:
            size = sizes[each.dimension]
            if size % (each.factor * each.stride):
                raise InvalidInputError(
                    f"a local size of {size} along dimension {each.dimension} can't be divided for {each}"
                )
            sizes[each.dimension] = size // each.factor
    return sizes[0], sizes[1], sizes[2]


def lane_item(place: Place, coarsenings: Sequence[Coarsening], replicas: Sequence[int]) -> LaneItem:
    """Return the work-item that a replica of a coarsened one stands for.

    Args:
        place: local ids in the coarsened launch.
        coarsenings: in the order in which they were carried out.
        replicas: the number of the replica, from 0, of each coarsening.
    """
    local, group = list(place), [0, 0, 0]
    for each, replica in reversed(list(zip(coarsenings, replicas, strict=True))):
        if each.level is Level.GROUP:
            group[each.dimension] = group[each.dimension] * each.factor + replica
        else:
            whole, rest = divmod(local[each.dimension], each.stride)
            local[each.dimension] = whole * each.stride * each.factor + rest + replica * each.stride
    return LaneItem((local[0], local[1], local[2]), (group[0], group[1], group[2]))
