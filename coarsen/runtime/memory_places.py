"""Where memory objects lie: whether a kernel that writes to one of them may find another one changed.

two buffers                                    distinct
a buffer twice, a buffer and a part of it      the same
two parts of a buffer                          distinct if their bytes are
two buffers on memory of the host              not known: the host may have given the same twice
an image made of a buffer                      takes all of it
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyopencl

_INFO = pyopencl.mem_info


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A part of a memory object.

    Attributes:
        whole: the address of the object that it is part of.
        start: its first byte in that object.
        end: the byte after its last.
        is_hosts: whether the whole object is the host's memory.
    """

    whole: int
    start: float
    end: float
    is_hosts: bool


def place_of(memory: pyopencl.MemoryObject | None) -> MemoryPlace | None:
    """Return where a memory object lies; None for NULL, through which nothing is reached."""
    if memory is None:
        return None
    whole: Any = memory.get_info(_INFO.ASSOCIATED_MEMOBJECT)
    start, end = 0.0, math.inf
    if whole is not None and memory.type == pyopencl.mem_object_type.BUFFER:
        start = memory.offset
        end = start + memory.size
    owner: Any = memory if whole is None else whole
    return MemoryPlace(owner.int_ptr, start, end, bool(owner.flags & pyopencl.mem_flags.USE_HOST_PTR))


def are_distinct(first: MemoryPlace | None, second: MemoryPlace | None) -> bool:
    """Return True if no byte surely is in both places."""
    if first is None or second is None:
        return True
    if first.whole != second.whole:
        return not (first.is_hosts and second.is_hosts)
    return first.end <= second.start or second.end <= first.start
