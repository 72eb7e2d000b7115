"""Where the arguments of a launch lie in a device's memory: which are the same bytes, which overlap.

Two pointers to the same bytes are one buffer given twice; parts of one buffer that don't meet are two buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyopencl
import pyopencl.array

from coarsen.errors import InvalidInputError

_SHARED_MEMORY = 0  # the "object" that all shared virtual memory is part of; no handle is 0


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes from `begin` up to `end` of a memory object, which `whole` tells apart from others."""

    whole: int
    begin: int
    end: int

    @property
    def byte_count(self) -> int:
        """The number of bytes."""
        return self.end - self.begin

    def meets(self, other: Region) -> bool:
        """Return True if they have bytes in common."""
        return self.whole == other.whole and self.begin < other.end and other.begin < self.end


def region_of(argument: Any) -> Region | None:  # noqa: ANN401 (whatever PyOpenCL takes)
    """Return where the memory of an argument lies; None if it is no buffer and no shared virtual memory.

    Raises:
        InvalidInputError: shared virtual memory of no known size; a part of a buffer that was released.
    """
    if isinstance(argument, pyopencl.SVMPointer):
        return _shared_region(argument)
    held = buffer_of(argument)
    if held is None:
        return None
    offset = int(argument.offset) if isinstance(argument, pyopencl.array.Array) else 0
    whole = _whole_of(held)
    if whole is None:
        return Region(int(held.int_ptr), offset, int(held.size))
    start: Any = held.get_info(pyopencl.mem_info.OFFSET)
    return Region(int(whole.int_ptr), int(start) + offset, int(start) + int(held.size))


def _whole_of(part: pyopencl.Buffer) -> pyopencl.Buffer | None:
    """The buffer that another is part of, None where it is none."""
    try:
        # PyOpenCL's annotation: any object.
        whole: Any = part.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    except pyopencl.LogicError:  # on Intel's runtime, which does not keep it for its parts
        raise InvalidInputError(
            "it is part of a buffer that was released, so that it can't be told from other parts; keep the buffer"
        ) from None
    return whole if isinstance(whole, pyopencl.Buffer) else None


def buffer_of(argument: Any) -> pyopencl.Buffer | None:  # noqa: ANN401
    """Return the buffer that an argument is, or that an array's numbers are in."""
    held = argument.base_data if isinstance(argument, pyopencl.array.Array) else argument
    return held if isinstance(held, pyopencl.Buffer) else None


def same_as(kernel: str, regions: Mapping[int, Region]) -> dict[int, int]:
    """Return the arguments that are given the same memory as one before them, with that one's index.

    Args:
        kernel: the kernel's name, for messages.
        regions: of the arguments that are memory, by their indices.

    Raises:
        InvalidInputError: the memory of two overlaps and isn't the same.
    """
    first: dict[Region, int] = {}
    same: dict[int, int] = {}
    for index, region in regions.items():
        if region in first:
            same[index] = first[region]
            continue
        for other, before in first.items():
            if region.meets(other):
                raise InvalidInputError(
                    f"the kernel '{kernel}': its arguments {before} and {index} are parts of one buffer that "
                    "overlap, which a workload can't have"
                )
        first[region] = index
    return same


def _shared_region(memory: pyopencl.SVMPointer) -> Region:
    size: Any = memory.size
    if size is None:
        raise InvalidInputError("it is shared virtual memory of no known size; pass its SVMAllocation")
    begin = int(memory.svm_ptr)
    return Region(_SHARED_MEMORY, begin, begin + int(size))
