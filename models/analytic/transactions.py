"""Sectors: how many pieces of memory the lanes of a warp touch with one access, and how many of them are moved.

Lanes that access b bytes at a distance of s bytes touch, with sectors of S bytes and w lanes, no two of them
further apart than a sector,

    ⌈b / S⌉                     s = 0
    ⌈((w − 1)·|s| + b) / S⌉     |s| ≤ S
    w · ⌈b / S⌉                 beyond, and where the distance is irregular

sectors. Copies of an access in a coarsened kernel touch the same sectors one after the other: the first-level
cache serves all but one of them.
"""

from __future__ import annotations

import math

from coarsen.cost.work_counts import AccessCount


def sectors(access: AccessCount, lanes: int, sector_bytes: int) -> int:
    """Return the sectors that one access of a warp touches.

    Args:
        access: of each lane.
        lanes: of the warp.
        sector_bytes: the least that an access moves.
    """
    alone = max(1, math.ceil(access.bytes / sector_bytes))
    stride = access.lane_stride
    if stride == 0:
        return alone
    if stride is None or abs(stride) > sector_bytes:
        return lanes * alone
    return math.ceil(((lanes - 1) * abs(stride) + access.bytes) / sector_bytes)


def sharing(access: AccessCount, sector_bytes: int) -> float:
    """Return how many accesses of a work-item that are copies of each other meet in one sector, at least 1."""
    if not access.replica_stride or not access.lane_stride:
        return 1.0
    return max(1.0, min(sector_bytes, abs(access.lane_stride)) / max(access.replica_stride, access.bytes))


def moved_bytes(access: AccessCount, lanes: int, sector_bytes: int) -> float:
    """Return the bytes that each work-item's execution of an access moves from beyond the first-level cache."""
    return sectors(access, lanes, sector_bytes) * sector_bytes / (lanes * sharing(access, sector_bytes))
