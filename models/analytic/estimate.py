"""The time that a launch takes, by a model: seconds, what bounds it, and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.cost.work_counts import AccessCount, InstructionClass, WorkCounts
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import (
    DIVISION,
    DOUBLE,
    FLOAT,
    INTEGER,
    MATH,
    MULTIPLY,
    DeviceProfile,
    IssueRate,
    interpolated,
)

# Which measured rates tell of a class of instructions: the first that the profile has.
_RATES: Mapping[InstructionClass, tuple[str, ...]] = {
    InstructionClass.INTEGER: (INTEGER, MULTIPLY, FLOAT),
    InstructionClass.FLOAT: (FLOAT,),
    InstructionClass.DOUBLE: (DOUBLE, FLOAT),
    InstructionClass.MATH: (MATH, DIVISION, FLOAT),
    InstructionClass.CONVERSION: (INTEGER, FLOAT),
    InstructionClass.CONTROL: (INTEGER, FLOAT),
    InstructionClass.LOCAL_ACCESS: (FLOAT,),
    InstructionClass.GLOBAL_ACCESS: (FLOAT,),
}


@dataclass(frozen=True)
class Estimate:
    """An estimate.

    Args:
        seconds: of the launch on the device; what the host does before and after is not in it.
        bound: the part that decides: `compute`, `memory`, `latency`, `local memory` or `groups`.
        parts: seconds of each part, as if it were alone.
    """

    seconds: float
    bound: str
    parts: Mapping[str, float]


def rate_of(machine: DeviceProfile, kind: InstructionClass) -> IssueRate:
    """Return the rate of a class of instructions. Raises InvalidInputError where the profile has none."""
    for name in _RATES[kind]:
        if name in machine.rates:
            return machine.rates[name]
    raise InvalidInputError(f"the profile '{machine.name}' has no rate of operations; calibrate the device")


def operations_per_second(machine: DeviceProfile, kind: InstructionClass, chains: float) -> float:
    """Operations per second of the whole device in work-items with so many independent chains of them."""
    rate = rate_of(machine, kind)
    return interpolated(rate.by_chains, chains) or rate.throughput.value


def bandwidth_at(machine: DeviceProfile, footprint: float | None) -> float:
    """Return bytes per second of reading from a footprint of so many bytes; from memory where it isn't known.

    Raises:
        InvalidInputError: the profile has no bandwidth.
    """
    curve = machine.bandwidth if machine.is_gpu else machine.private_bandwidth
    if curve:
        return curve[-1].value if footprint is None else interpolated(curve, footprint) or curve[-1].value
    for level in machine.levels:
        if level.bytes is None or (footprint is not None and footprint <= level.bytes):
            return level.bandwidth
    raise InvalidInputError(f"the profile '{machine.name}' has no bandwidth; calibrate the device")


def latency_at(machine: DeviceProfile, footprint: float | None) -> float:
    """Return seconds of a load that waits for another, 0 where the profile has none."""
    if machine.latency:
        curve = machine.latency
        return curve[-1].value if footprint is None else interpolated(curve, footprint) or curve[-1].value
    known = [level.latency for level in machine.levels if level.latency is not None]
    return known[-1] if known else 0.0


def parallelism(work: WorkCounts) -> float:
    """Independent chains of operations in a work-item: operations over the longest chain, at least 1."""
    return max(1.0, sum(work.instructions.values()) / max(1.0, work.chain_operations))


# Sectors: how many pieces of memory the lanes of a warp touch with one access, and how many of them are moved.
#
# Lanes that access b bytes at a distance of s bytes touch, with sectors of S bytes and w lanes, no two of them
# further apart than a sector,
#
#     ⌈b / S⌉                     s = 0
#     ⌈((w − 1)·|s| + b) / S⌉     |s| ≤ S
#     w · ⌈b / S⌉                 beyond, and where the distance is irregular
#
# sectors. Copies of an access in a coarsened kernel touch the same sectors one after the other: the first-level
# cache serves all but one of them.


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
