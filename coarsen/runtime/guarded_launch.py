"""Launches of guarded kernels, which take any size.

A guarded kernel does nothing for what lies beyond the original launch. With factor F and stride S:

    original    global G,                      local L
    coarsened   global ≥ ceil(G / (F·S))·S,    any local size    work-items
    coarsened   global ceil(G / L / F)·L,      local L           work-groups, F·L ids per coarsened one

Work-items keep the caller's local size where that leaves few of them without work, else get a smaller one. Where a
guarded launch would have no fewer work-items than the original, there is none: nothing would be merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from coarsen.runtime.launch import DividedLaunch, LaunchLimits, Sizes, has_work, local_size_of_original
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration

# Work-groups of fewer work-items than this many are not made for the sake of idle ones; a power of two.
_LANES = 16
# The implementation chooses an open local size, which needs a global size with divisors; a power of two.
_PREFERRED_MULTIPLE = 64
# The part of all work-items that may be idle for the sake of the local size.
_IDLE_PART = 8


class _Axis(NamedTuple):
    """One dimension: the original's sizes, and how many work-items (at a stride) and groups of it are merged."""

    extent: int
    local: int | None
    items: int = 1
    stride: int = 1
    groups: int = 1

    @property
    def is_free(self) -> bool:
        """Return True if any local size will do: a guard of work-items stands along this dimension."""
        return self.items > 1


def guarded_launch(
    global_size: Sizes,
    local_size: Sizes | None,
    coarsenings: Configuration,
    limits: LaunchLimits,
    any_groups: bool = False,
) -> DividedLaunch | None:
    """Return the launch of a kernel that is guarded along each dimension that it is coarsened along.

    Args:
        global_size: the original's, in work-items.
        local_size: the original's; None: left to the implementation.
        coarsenings: what the guarded kernel is coarsened by.
        limits: those of the device and of the guarded kernel.
        any_groups: whether the original launch may have work-groups of different sizes (OpenCL 2.0).

    Returns:
        None where the original launch has to be taken.
    """
    if not has_work(global_size, local_size):
        return None
    if any(coarsening.dimension >= len(global_size) for coarsening in coarsenings):
        return None
    if local_size is None and any(entry.level is Level.GROUP for entry in coarsenings):
        local_size = local_size_of_original(global_size, coarsenings, limits)
        if local_size is None:
            return None
    axes = _axes(global_size, local_size, coarsenings)
    if not all(_is_possible(axis, any_groups) for axis in axes):
        return None
    local = _local_sizes(axes, limits)
    if local is None and local_size is not None:
        return None
    sizes = tuple(
        _coarsened_size(axis, None if local is None else local[dimension]) for dimension, axis in enumerate(axes)
    )
    if math.prod(sizes) >= math.prod(global_size) or not _ids_fit(axes, sizes, limits):
        return None
    return DividedLaunch(sizes, local, coarsenings, guarded=True)


def without_needless_guard(launch: DividedLaunch, global_size: Sizes) -> DividedLaunch:
    """Return a guarded launch, by the variant without a guard where nothing is beyond the original's work."""
    covered = list(launch.global_size)
    for coarsening in launch.coarsenings:
        if launch.global_size[coarsening.dimension] % coarsening.stride:
            return launch
        covered[coarsening.dimension] *= coarsening.factor
    return launch._replace(guarded=tuple(covered) != global_size)


def _axes(global_size: Sizes, local_size: Sizes | None, coarsenings: Configuration) -> tuple[_Axis, ...]:
    items = {entry.dimension: entry for entry in coarsenings if entry.level is Level.ITEM}
    groups = {entry.dimension: entry.factor for entry in coarsenings if entry.level is Level.GROUP}
    return tuple(
        _Axis(
            extent,
            None if local_size is None else local_size[dimension],
            items[dimension].factor if dimension in items else 1,
            items[dimension].stride if dimension in items else 1,
            groups.get(dimension, 1),
        )
        for dimension, extent in enumerate(global_size)
    )


def _is_possible(axis: _Axis, any_groups: bool) -> bool:
    if axis.local is None or axis.extent % axis.local == 0:
        return True
    return any_groups and axis.is_free


def _coarsened_size(axis: _Axis, local: int | None) -> int:
    """Return the coarsened launch's global size along a dimension; `local` is its local size there."""
    if not axis.is_free:
        groups = 1 if axis.local is None else axis.extent // axis.local
        return _ceil(groups, axis.groups) * (axis.extent // groups)
    if axis.groups > 1 and local is not None:
        # Groups of coarsened work-items are merged: whole ones, each with room for whole strides.
        return _ceil(axis.extent, axis.items * axis.groups * local) * local
    needed = _needed(axis)
    if local is None:
        return _multiple(needed, _power_of_two(min(_PREFERRED_MULTIPLE, needed // _IDLE_PART)))
    return _multiple(needed, local)


def _needed(axis: _Axis) -> int:
    """Return the number of coarsened work-items that cover a free dimension, its groups not yet merged."""
    return _ceil(axis.extent, axis.items * axis.stride) * axis.stride


def _local_sizes(axes: tuple[_Axis, ...], limits: LaunchLimits) -> Sizes | None:
    """Return the coarsened local size: the caller's, made smaller along free dimensions where that is called for.

    None where the caller left it open, and where the limits allow none.
    """
    if any(axis.local is None for axis in axes):
        return None
    local = [_suitable(axis) for axis in axes]
    for dimension, axis in enumerate(axes):
        unit = _unit(axis)
        most = min(limits.max_work_group_size * local[dimension] // math.prod(local), _at(limits, dimension))
        if axis.is_free and local[dimension] > most:
            local[dimension] = max(most // unit * unit, unit)
    fits = math.prod(local) <= limits.max_work_group_size
    return tuple(local) if fits and all(size <= _at(limits, d) for d, size in enumerate(local)) else None


def _suitable(axis: _Axis) -> int:
    """Return the caller's local size, or a smaller one where many of its work-items would have nothing to do."""
    local = axis.local or 1
    if not axis.is_free:
        return local
    needed, unit = _needed(axis), _unit(axis)
    local = _multiple(local, unit)
    groups = _ceil(needed, local)
    if groups * local - needed <= needed // _IDLE_PART:
        return local
    balanced = _ceil(needed, groups)
    return min(local, _multiple(_multiple(balanced, _power_of_two(min(_LANES, balanced))), unit))


def _unit(axis: _Axis) -> int:
    """Return the number that a free dimension's local size must be a multiple of."""
    return axis.stride if axis.groups > 1 else 1


def _ids_fit(axes: Iterable[_Axis], sizes: Sizes, limits: LaunchLimits) -> bool:
    """Return True if the ids of work-items without work are numbers that no other work-item has."""
    merged = (axis.items * axis.groups for axis in axes)
    return all(size * count <= 2**limits.address_bits for size, count in zip(sizes, merged, strict=True))


def _at(limits: LaunchLimits, dimension: int) -> int:
    return limits.max_work_item_sizes[dimension]


def _ceil(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _multiple(number: int, of: int) -> int:
    return _ceil(number, of) * of


def _power_of_two(most: int) -> int:
    """Return the largest power of two up to a number; 1 for less than that."""
    return 1 << max(most, 1).bit_length() - 1


# Local memory of merged work-groups: F groups that become one need that of F.
#
# What a merged work-group needs is estimated from above: local memory that all groups fill alike is shared, but
# that is known only of the coarsened kernel.


def within_local_memory(wanted: Configuration, group_bytes: int, available: int) -> Configuration:
    """Return the coarsenings, work-groups' factors made smaller until a merged group's local memory is there.

    Args:
        wanted: what is asked for.
        group_bytes: the local memory of one original work-group.
        available: what the device has for one work-group.
    """
    chosen = list(wanted)
    while merged_groups(chosen) * group_bytes > available:
        largest = max(
            (i for i, entry in enumerate(chosen) if entry.level is Level.GROUP), key=lambda i: chosen[i].factor
        )
        if chosen[largest].factor == 1:
            break
        chosen[largest] = replace(chosen[largest], factor=chosen[largest].factor - 1)
    return tuple(entry for entry in chosen if entry.factor > 1)


def merged_groups(coarsenings: Iterable[Coarsening]) -> int:
    """Return how many work-groups become one."""
    return math.prod(entry.factor for entry in coarsenings if entry.level is Level.GROUP)


def groups_of_one_item(wanted: Configuration, local_size: Sequence[int] | None) -> Configuration:
    """Return a configuration with work-groups merged along dimensions where each has one work-item.

    There, to merge work-items of one work-group is to merge none, and work-groups are the same work.
    """
    if local_size is None:
        return wanted
    merged = {entry.dimension for entry in wanted if entry.level is Level.GROUP}
    alone = {dimension for dimension, size in enumerate(local_size) if size == 1} - merged
    return configuration(
        replace(entry, level=Level.GROUP, stride=1) if entry.dimension in alone else entry for entry in wanted
    )
