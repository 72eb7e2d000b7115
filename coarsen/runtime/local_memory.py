"""Local memory of merged work-groups: F groups that become one need that of F.

What a merged work-group needs is estimated from above: local memory that all groups fill alike is shared, but that
is known only of the coarsened kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyopencl

from coarsen.ir.added_arguments import AddedArgument
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration


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


def merges_groups(wanted: Configuration) -> bool:
    """Return True if work-groups are merged at all."""
    return any(entry.level is Level.GROUP for entry in wanted)


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


def like_set(added: AddedArgument, known: Mapping[int, pyopencl.LocalMemory]) -> pyopencl.LocalMemory | None:
    """Local memory as large as that which is set for another argument; None where none is."""
    like = known.get(added.like)
    return None if like is None else pyopencl.LocalMemory(like.size)
