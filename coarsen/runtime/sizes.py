"""Sizes of launches: what a device takes, and whether every work-group of a launch is whole."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Sizes: TypeAlias = tuple[int, ...]
# The global size and the local size of a launch; None leaves this to the driver.
PassedSizes: TypeAlias = tuple[Sizes, Sizes | None]

# Of an NDRange.
MOST_DIMENSIONS = 3
# Of a launch whose sizes nobody has passed: with one each nanosecond they take three days.
MOST_WORK_ITEMS = 2**48


@dataclass(frozen=True, slots=True)
class LaunchLimits:
    """The limits of a device: work-items per work-group, in all and per dimension; the bits of an id."""

    max_work_group_size: int
    max_work_item_sizes: Sizes
    address_bits: int = 64


def is_plain(global_size: Sizes, local_size: Sizes | None) -> bool:
    """Return True if there is work and every work-group is whole; False also for what OpenCL rejects."""
    if not has_work(global_size, local_size):
        return False
    return local_size is None or all(
        whole % part == 0 for whole, part in zip(global_size, local_size, strict=True)
    )


def has_work(global_size: Sizes, local_size: Sizes | None) -> bool:
    """Return True if all sizes are positive, and there are as many of one kind as of the other, up to three."""
    if min(global_size, default=0) < 1 or len(global_size) > MOST_DIMENSIONS:
        return False
    return local_size is None or (len(local_size) == len(global_size) and min(local_size) >= 1)


def fits(local_size: Sizes, limits: LaunchLimits) -> bool:
    """Return True if a work-group of this size is within the limits."""
    is_small = math.prod(local_size) <= limits.max_work_group_size
    return is_small and all(
        size <= most for size, most in zip(local_size, limits.max_work_item_sizes, strict=False)
    )


def plain_sizes(
    global_size: Sequence[int], local_size: Sequence[int] | None, g_times_l: bool
) -> tuple[Sizes, Sizes | None]:
    """Return both sizes as tuples, the global one in work-items; raises TypeError where they are no whole numbers.

    With `g_times_l`, as PyOpenCL has it, the global size is given in work-groups.
    """
    whole = tuple(map(operator.index, global_size))
    if local_size is None:
        return whole, None
    local = tuple(map(operator.index, local_size))
    if g_times_l:
        dimensions = max(len(whole), len(local))
        whole += (1,) * (dimensions - len(whole))
        local += (1,) * (dimensions - len(local))
        whole = tuple(groups * size for groups, size in zip(whole, local, strict=True))
    return whole, local


def plain_offset(
    global_offset: Sequence[int] | None, local_size: Sequence[int] | None, g_times_l: bool
) -> Sequence[int] | None:
    """Return the offset in work-items; with `g_times_l`, as PyOpenCL has it, it is given in work-groups."""
    if global_offset is None or local_size is None or not g_times_l:
        return global_offset
    offset, local = tuple(global_offset), tuple(local_size)
    local += (1,) * (len(offset) - len(local))
    return tuple(groups * size for groups, size in zip(offset, local, strict=False))
