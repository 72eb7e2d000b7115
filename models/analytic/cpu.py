"""A model of CPUs, where a core runs the work-items of a group one after the other, or some of them as a vector.

    T = T_event + max(⌈groups / cores⌉ · (T_group + items · (T_item + body / V) + barriers), T_memory)

- body: instructions over the measured rate of their class on one core, at the kernel's number of independent
  chains. Rates are of scalar work-items: where the runtime vectorises over them, a vector's speed is in them.
- V: the share of a vector's lanes that a group's work-items along dimension 0 use; 1 where the runtime does not
  vectorise. It does if its scalar work-items do more than twice of what a vector's share is.
- T_memory: bytes of the lines moved, at the bandwidth of the footprint.
"""

from __future__ import annotations

import math
from types import MappingProxyType

from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.models.analytic.estimate import (
    Estimate,
    bandwidth_at,
    moved_bytes,
    operations_per_second,
    parallelism,
)
from coarsen.models.analytic.machine import FLOAT, FLOAT_VECTOR, DeviceProfile, Quantity, interpolated

_USUAL_LINE, _WORD = 64, 4
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
        "memory": _memory(work, launch, machine),
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
            cost = interpolated(machine.cached_stride_cost, max(1.0, abs(stride) / _WORD)) or 1.0
        more += access.count * (max(1.0, cost) - 1.0)
    return 1.0 + more / total


def _memory(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> float:
    line = machine.sector_bytes or _USUAL_LINE
    lanes = max(1, machine.simd_width or 1)
    return sum(
        launch.items * each.count * moved_bytes(each, lanes, line) / bandwidth_at(machine, each.footprint)
        for each in work.accesses
        if each.is_outer
    )


def _seconds(cost: Quantity | None) -> float:
    return cost.value if cost else 0.0
