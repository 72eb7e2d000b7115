"""Local memory of merged work-groups: F groups that become one need that of F.

What a merged work-group needs is estimated from above: local memory that all groups fill alike is shared, but that
is known only of the coarsened kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyopencl

from coarsen.ir.kernel import AddedArgument
from coarsen.variant.coarsening import Configuration, Level


def within_local_memory(wanted: Configuration, group_bytes: int, available: int) -> Configuration:
    """The coarsenings with factors of work-groups made smaller until a merged work-group's local memory is there.

    Args:
        wanted: what is asked for.
        group_bytes: the local memory of one original work-group.
        available: what the device has for one work-group.
    """
    chosen = list(wanted)
    while math.prod(entry.factor for entry in chosen if entry.level is Level.GROUP) * group_bytes > available:
        largest = max(
            (i for i, entry in enumerate(chosen) if entry.level is Level.GROUP), key=lambda i: chosen[i].factor
        )
        if chosen[largest].factor == 1:
            break
        chosen[largest] = replace(chosen[largest], factor=chosen[largest].factor - 1)
    return tuple(entry for entry in chosen if entry.factor > 1)


def merges_groups(wanted: Configuration) -> bool:
    """Return True if work-groups are merged at all."""
    return any(entry.level is Level.GROUP for entry in wanted)


def size_of_local(argument: Any) -> int:  # noqa: ANN401 (whatever PyOpenCL takes)
    """The bytes of local memory that a launch's argument stands for; 0 for any other."""
    return int(argument.size) if isinstance(argument, pyopencl.LocalMemory) else 0


def like_passed(added: AddedArgument, passed: Sequence[Any]) -> pyopencl.LocalMemory | None:
    """Local memory as large as that which is passed for another argument; None where none is."""
    size = size_of_local(passed[added.like]) if added.like < len(passed) else 0
    return pyopencl.LocalMemory(size) if size else None
