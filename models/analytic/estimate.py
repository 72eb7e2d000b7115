"""The time that a launch takes, by a model: seconds, what bounds it, and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.cost.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import (
    DIVISION,
    DOUBLE,
    FLOAT,
    FLOAT_VECTOR,
    INTEGER,
    MATH,
    MULTIPLY,
    DeviceProfile,
    IssueRate,
    Quantity,
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
    raise InvalidInputError(f"the profile '{machine.name}' has no rate of operations")


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
    raise InvalidInputError(f"the profile '{machine.name}' has no bandwidth")


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


# A model of CPUs, where a core runs the work-items of a group one after the other, or some of them as a vector.
#
#     T = T_event + max(⌈groups / cores⌉ · (T_group + items · (T_item + body / V) + barriers), T_memory)
#
# - body: instructions over the measured rate of their class on one core, at the kernel's number of independent
#   chains. Rates are of scalar work-items: where the runtime vectorises over them, a vector's speed is in them.
# - V: the share of a vector's lanes that a group's work-items along dimension 0 use; 1 where the runtime does not
#   vectorise. It does if its scalar work-items do more than twice of what a vector's share is.
# - T_memory: bytes of the lines moved, at the bandwidth of the footprint.

_USUAL_LINE, _CPU_WORD = 64, 4
_VECTORISED = 2.0


def cpu(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Estimate:
    """Estimate a launch. Raises InvalidInputError where the profile has no rate or bandwidth."""
    cores = machine.compute_units
    rounds = math.ceil(launch.groups / cores)
    items = launch.group_items
    costs = machine.launch
    barrier = work.barriers * (_seconds(costs.barrier) + items * _seconds(costs.barrier_item))
    parts = {
        "compute": rounds * items * _body(work, launch, machine),
        "memory": _cpu_memory(work, launch, machine),
        "groups": rounds * (_seconds(costs.group) + items * _seconds(costs.item) + barrier),
    }
    bound = max(parts, key=lambda name: parts[name])
    busy = max(parts["compute"] + parts["groups"], parts["memory"])
    return Estimate(busy + _seconds(costs.event), bound, MappingProxyType(parts))


def vectorises(machine: DeviceProfile) -> bool:
    """Return True if the runtime makes vectors of work-items: their rate is nearer a vector's than a lane's."""
    if FLOAT not in machine.rates or FLOAT_VECTOR not in machine.rates or not machine.simd_width:
        return False
    lane = machine.rates[FLOAT_VECTOR].throughput.value / machine.simd_width
    return machine.rates[FLOAT].throughput.value > _VECTORISED * lane


def _body(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> float:
    """Seconds of a work-item on one core."""
    chains = parallelism(work)
    seconds = 0.0
    for kind, count in work.instructions.items():
        seconds += count * machine.compute_units / operations_per_second(machine, kind, chains)
    width = machine.simd_width or 1
    used = min(1.0, launch.local_size[0] / width) if vectorises(machine) else 1.0
    return seconds * _gathering(work, machine) / used


def _gathering(work: WorkCounts, machine: DeviceProfile) -> float:
    """Return how much longer a work-item takes as neighbours' accesses don't lie side by side, at least 1."""
    total = sum(work.instructions.values())
    outer = [access for access in work.accesses if access.is_outer]
    if not total or not outer or not machine.cached_stride_cost:
        return 1.0
    far = machine.cached_stride_cost[-1].value
    more = 0.0
    for access in outer:
        stride = access.lane_stride
        cost = far if stride is None else 1.0
        if stride:
            cost = interpolated(machine.cached_stride_cost, max(1.0, abs(stride) / _CPU_WORD)) or 1.0
        more += access.count * (max(1.0, cost) - 1.0)
    return 1.0 + more / total


def _cpu_memory(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> float:
    line = machine.sector_bytes or _USUAL_LINE
    lanes = max(1, machine.simd_width or 1)
    return sum(
        launch.items * each.count * moved_bytes(each, lanes, line) / bandwidth_at(machine, each.footprint)
        for each in work.accesses
        if each.is_outer
    )


def _seconds(cost: Quantity | None) -> float:
    return cost.value if cost else 0.0


# A model of GPUs with sectors, caches, whole waves and the cost of starting groups.
#
#     T = T_event + waves · T_group + max(T_compute, T_memory, T_first, T_local, T_latency)
#
# - T_compute: instructions over the measured rate of their class, at the kernel's number of independent chains, on
#   the share of the device that has work: in the last wave all of it counts as busy.
# - T_memory: bytes of the sectors moved from beyond the first-level cache, at the bandwidth of the footprint.
# - T_first: all sectors touched, at the bandwidth of data that each unit rereads.
# - T_local: accesses to local memory at its bandwidth.
# - T_latency: waves · (dependent accesses · latency + dependent operations · their latency).
#
# Everything but T_latency grows with waves that are not full, since the last one takes as long as a full one.

_USUAL_LANES, _USUAL_SECTOR, _WORD = 32, 32, 4


def gpu(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Estimate:
    """Estimate a launch. Raises InvalidInputError where the profile has no rate or bandwidth."""
    placed = occupancy(work, launch, machine)
    # Work-items as if every wave were full.
    items = launch.group_items * placed.waves * placed.resident_groups * machine.compute_units
    parts = {
        "compute": items * _compute(work, machine),
        **_memory(work, launch.items, machine),
        "local memory": items * _local(work, machine),
        "latency": placed.waves * _latency(work, machine),
    }
    bound = max(parts, key=lambda name: parts[name])
    starting = _starting(launch, placed, machine)
    return Estimate(parts[bound] + starting, bound, MappingProxyType({**parts, "groups": starting}))


def _compute(work: WorkCounts, machine: DeviceProfile) -> float:
    """Seconds of a work-item's instructions, with the whole device busy."""
    chains = parallelism(work)
    return sum(count / operations_per_second(machine, kind, chains) for kind, count in work.instructions.items())


def _memory(work: WorkCounts, items: int, machine: DeviceProfile) -> dict[str, float]:
    lanes, sector = machine.simd_width or _USUAL_LANES, machine.sector_bytes or _USUAL_SECTOR
    outer = [access for access in work.accesses if access.is_outer]
    beyond = sum(
        items * each.count * moved_bytes(each, lanes, sector) / bandwidth_at(machine, each.footprint)
        for each in outer
    )
    touched = sum(items * each.count * sectors(each, lanes, sector) * sector / lanes for each in outer)
    nearest = machine.private_bandwidth[0].value if machine.private_bandwidth else bandwidth_at(machine, 0.0)
    return {"memory": beyond, "first-level cache": touched / nearest}


def _local(work: WorkCounts, machine: DeviceProfile) -> float:
    """Seconds of a work-item's accesses to local memory, conflicts of banks included."""
    if machine.local_bandwidth is None:
        return 0.0
    bandwidth = machine.local_bandwidth.value
    local = (access for access in work.accesses if access.is_local)
    return sum(
        access.count * access.bytes * _conflicts(access.lane_stride, machine) / bandwidth for access in local
    )


def _conflicts(stride: int | None, machine: DeviceProfile) -> float:
    words = abs(stride) // _WORD if stride else 1
    return interpolated(machine.local_stride_cost, max(1, words)) or 1.0


def _latency(work: WorkCounts, machine: DeviceProfile) -> float:
    footprints = [access.footprint for access in work.accesses if access.is_outer]
    known = [each for each in footprints if each is not None]
    largest = max(known) if known and len(known) == len(footprints) else None
    operation = rate_of(machine, InstructionClass.FLOAT).latency
    each_operation = operation.value if operation else 0.0
    return work.chain_accesses * latency_at(machine, largest) + work.chain_operations * each_operation


def _starting(launch: LaunchSizes, placed: Occupancy, machine: DeviceProfile) -> float:
    """Seconds for the launch itself, as its event counts them, and for the groups of a unit."""
    event, group = machine.launch.event, machine.launch.group
    groups = launch.groups / placed.active_units
    return (event.value if event else 0.0) + groups * (group.value if group else 0.0)


# How many work-groups share a compute unit, and in how many waves a launch runs.

# Where a profile doesn't say: what GPUs of the last ten years have.
_USUAL_ITEMS, _USUAL_GROUPS, _USUAL_REGISTERS = 2048, 16, 65536


@dataclass(frozen=True, slots=True)
class Occupancy:
    """A launch on a device.

    Args:
        resident_groups: that a compute unit holds at once, at least 1.
        active_units: compute units that have a group.
        waves: how often all active units' places are filled, a part of a wave being a whole one.
    """

    resident_groups: int
    active_units: int
    waves: int


def occupancy(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Occupancy:
    """Return the occupancy by work-items, groups, registers and local memory; compilers may use more registers."""
    groups = max(1, launch.groups)
    active = min(machine.compute_units, groups)
    # No more than there are: a small launch doesn't fill the places.
    most = resident_groups(launch.group_items, work.live_words, work.local_bytes, machine)
    resident = max(1, min(most, math.ceil(groups / active)))
    return Occupancy(resident, active, math.ceil(groups / (active * resident)))


def resident_groups(items: int, registers: int, local_bytes: int, machine: DeviceProfile) -> int:
    """Return the number of work-groups that a compute unit has room for; 0 where one is too large.

    Args:
        items: work-items of a group.
        registers: 32-bit words of registers of a work-item.
        local_bytes: local memory of a group.
        machine: the device; what its profile leaves out is what is usual.
    """
    room = [
        (machine.items_per_unit or _USUAL_ITEMS) // items,
        machine.groups_per_unit or _USUAL_GROUPS,
        (machine.registers_per_unit or _USUAL_REGISTERS) // (items * max(1, registers)),
    ]
    local_memory = machine.local_memory_per_unit or machine.local_memory
    if local_bytes and local_memory:
        room.append(local_memory // local_bytes)
    return min(room)
