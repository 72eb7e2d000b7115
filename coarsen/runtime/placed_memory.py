"""The memory that a launch passes for arrays which its kernel reads from constant or local memory.

    constant      a buffer, in whole no larger than the device's constant memory holds; NULL
    noncoherent   a buffer; NULL
    local         a buffer of just as many bytes as are copied

What is known of no size, shared virtual memory for one, suits none.
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
        return placed.place is not Place.LOCAL
    if memory.type != pyopencl.mem_object_type.BUFFER:
        return False
    if placed.place is Place.LOCAL:
        return placed.size is None or bool(memory.size == placed.size)
    return placed.place is Place.NONCOHERENT or _whole_bytes(memory) <= most_constant_bytes


def _whole_bytes(memory: pyopencl.MemoryObject) -> int:
    """The bytes of a buffer, or of what it is a part of: a driver may bind that."""
    whole: Any = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return int(memory.size if whole is None else whole.size)
