"""The work of one launch of a kernel in plain numbers, as models of its running time take it.

Counted on the kernel that is given, coarsened or not. Where the code does not say how often a loop goes round, it
is taken for 8 times, as everywhere (`block_profile.py`), and `WorkCounts.unknown` names it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.ir.types import AddressSpace
from coarsen.variant.coarsening import DIMENSIONS

Sizes = tuple[int, int, int]

# A generic pointer leads to global memory far more often than elsewhere.
OUTER = frozenset({AddressSpace.GLOBAL, AddressSpace.CONSTANT, AddressSpace.GENERIC})


class InstructionClass(enum.StrEnum):
    """What an instruction keeps busy."""

    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    MATH = "math"
    CONVERSION = "conversion"
    CONTROL = "control"
    LOCAL_ACCESS = "local access"
    GLOBAL_ACCESS = "global access"


@dataclass(frozen=True, slots=True)
class LaunchSizes:
    """The sizes of the launch that is counted: of a coarsened kernel, those that it is launched with.

    Args:
        global_size: work-items along the three dimensions.
        local_size: those of a work-group.
    """

    global_size: Sizes
    local_size: Sizes

    @property
    def items(self) -> int:
        """All work-items."""
        return math.prod(self.global_size)

    @property
    def group_items(self) -> int:
        """The work-items of a group."""
        return math.prod(self.local_size)

    @property
    def groups(self) -> int:
        """All work-groups."""
        return math.prod(
            -(-items // local) for items, local in zip(self.global_size, self.local_size, strict=True)
        )


@dataclass(frozen=True, slots=True)
class AccessCount:
    """A memory access and how often a work-item makes it.

    Args:
        count: times for each work-item.
        bytes: that it touches at once.
        address_space: as `ir.types.AddressSpace`.
        lane_stride: bytes from one work-item's access to that of its neighbour along dimension 0; None where that
            is irregular.
        replica_stride: bytes to the nearest access of the same work-item that is otherwise alike, as copies of one
            access have it in a coarsened kernel; None where there is none.
        store: whether it stores.
        footprint: bytes that all work-items touch with it; None where that isn't known.
        dependent_on_load: whether its address was loaded.
    """

    count: float
    bytes: int
    address_space: int
    lane_stride: int | None
    replica_stride: int | None
    store: bool
    footprint: float | None
    dependent_on_load: bool

    @property
    def is_outer(self) -> bool:
        """Return True for memory that all work-groups share: global, constant, and by a generic pointer."""
        return self.address_space in OUTER

    @property
    def is_local(self) -> bool:
        """Return True for a work-group's local memory."""
        return self.address_space == AddressSpace.LOCAL


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """The work of one work-item, but for what is said to be of a group.

    Args:
        instructions: by class; a vector's elements count one by one.
        accesses: to memory of any kind.
        barriers: that it waits at.
        atomics: that it does.
        local_bytes: local memory of its group.
        live_words: 32-bit registers that it needs.
        chain_operations: operations of the longest chain in which each waits for the one before.
        chain_accesses: accesses of the longest chain in which each waits for the one before.
        unknown: what had to be taken for granted, in words.
    """

    instructions: Mapping[InstructionClass, float]
    accesses: tuple[AccessCount, ...]
    barriers: float
    atomics: float
    local_bytes: int
    live_words: int
    chain_operations: float
    chain_accesses: float
    unknown: tuple[str, ...] = ()


def padded(sizes: tuple[int, ...]) -> Sizes:
    """Return one to three sizes as three."""
    first, second, third = (*sizes, 1, 1, 1)[:DIMENSIONS]
    return first, second, third
