"""How many work-groups share a compute unit, and in how many waves a launch runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.models.analytic.machine import DeviceProfile
from coarsen.models.analytic.unit_limits import UnitLimits, resident_groups

# Where a profile doesn't say: what GPUs of the last ten years have.
_USUAL_ITEMS, _USUAL_GROUPS, _USUAL_REGISTERS = 2048, 16, 65536


@dataclass(frozen=True, slots=True)
class Occupancy:
    """A launch on a device.

    Args:
        resident_groups: that a compute unit holds at once, at least 1.
        active_units: compute units that have a group.
        waves: how often all active units' places are filled, a part of a wave being a whole one.
        active_warps: warps that are resident on an active unit.
    """

    resident_groups: int
    active_units: int
    waves: int
    active_warps: float


def occupancy(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Occupancy:
    """Return the occupancy by work-items, groups, registers and local memory; compilers may use more registers."""
    items = launch.group_items
    most = resident_groups(items, work.live_words, work.local_bytes, unit_limits(machine))
    groups = max(1, launch.groups)
    active = min(machine.compute_units, groups)
    # No more than there are: a small launch doesn't fill the places.
    resident = max(1, min(most, math.ceil(groups / active)))
    warps = resident * math.ceil(items / (machine.simd_width or 1))
    return Occupancy(resident, active, math.ceil(groups / (active * resident)), warps)


def unit_limits(machine: DeviceProfile) -> UnitLimits:
    """Return the limits of a device's compute units; what its profile leaves out is what is usual."""
    return UnitLimits(
        machine.items_per_unit or _USUAL_ITEMS,
        machine.groups_per_unit or _USUAL_GROUPS,
        machine.registers_per_unit or _USUAL_REGISTERS,
        machine.local_memory_per_unit or machine.local_memory or 0,
    )
