"""A model of GPUs with sectors, caches, whole waves and the cost of starting groups.

    T = T_event + waves · T_group + max(T_compute, T_memory, T_first, T_local, T_latency)

- T_compute: instructions over the measured rate of their class, at the kernel's number of independent chains, on
  the share of the device that has work: in the last wave all of it counts as busy.
- T_memory: bytes of the sectors moved from beyond the first-level cache, at the bandwidth of the footprint.
- T_first: all sectors touched, at the bandwidth of data that each unit rereads.
- T_local: accesses to local memory at its bandwidth.
- T_latency: waves · (dependent accesses · latency + dependent operations · their latency).

Everything but T_latency grows with waves that are not full, since the last one takes as long as a full one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.models.analytic.estimate import (
    Estimate,
    bandwidth_at,
    latency_at,
    moved_bytes,
    operations_per_second,
    parallelism,
    rate_of,
    sectors,
)
from coarsen.models.analytic.machine import DeviceProfile, interpolated

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
