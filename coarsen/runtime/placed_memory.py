"""The memory objects that a launch passes for arrays which its kernel reads from constant or local memory.

A buffer suits by its size (`PlacedArgument.reason_against`); constant memory has to hold the whole of which a
sub-buffer is a part. What is known of no size, shared virtual memory for one, suits no place.
"""

from __future__ import annotations

from typing import Any

import pyopencl

from coarsen.variant.placement import Place, PlacedArgument


def suits(placed: PlacedArgument, memory: pyopencl.MemoryObject | None, most_constant_bytes: int) -> bool:
    """Return True if a memory object can be read as a kernel reads an argument's array.

    Args:
        placed: how it reads it.
        memory: what is passed; None for NULL, through which nothing is reached.
        most_constant_bytes: of a buffer in the device's constant memory.
    """
    if memory is None:
        return placed.takes_null
    if memory.type != pyopencl.mem_object_type.BUFFER:
        return False
    size = _whole_bytes(memory) if placed.place is Place.CONSTANT else memory.size
    return placed.reason_against(size, most_constant_bytes) is None


def _whole_bytes(memory: pyopencl.MemoryObject) -> int:
    """Return the bytes of a buffer, or of what it is a part of: a driver may bind that."""
    whole: Any = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return int(memory.size if whole is None else whole.size)
