"""The costs of starting work: launches, work-groups, work-items, barriers.

The gap between launches is the host's time over many launches in a row: no sum of the durations of events has it.
"""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import LaunchCosts, Quantity
from coarsen.opencl_bench.calibration.device import NO_ITEM, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import intercept, seconds_of, slope

_IN_A_ROW = 200
_GROUPS_OF_A_UNIT = (64, 128, 256, 512)
_GPU_GROUPS_OF_A_UNIT = (512, 1024, 2048, 4096)
_ITEMS = (16, 32, 64, 128)
_GPU_ITEMS = (64, 128, 256, 512)
_BARRIER_ITEMS = (16, 32, 64, 128, 256)


def launch_costs(probed: ProbedDevice, program: cl.Program) -> LaunchCosts:
    """Return the costs of starting work; `program` is that of `launch.cl`."""
    kernel = cl.Kernel(program, "empty")
    arguments = (probed.sink, NO_ITEM)

    def launch() -> object:
        return kernel(probed.queue, (1,), (1,), *arguments)

    def many() -> None:
        for _ in range(_IN_A_ROW):
            launch()

    launch()
    repetitions = range(probed.settings.repetitions)
    gap = seconds_of([probed.host_seconds(many) / _IN_A_ROW for _ in repetitions])
    round_trip = seconds_of([probed.host_seconds(launch) for _ in range(5 * len(repetitions))])
    event = seconds_of([probed.event_seconds(kernel, 1, 1, arguments) for _ in range(5 * len(repetitions))])
    barrier, barrier_item = _barrier_costs(probed, program)
    group = _group_cost(probed, kernel)
    return LaunchCosts(gap, round_trip, event, group, _item_cost(probed, kernel), barrier, barrier_item)


def _group_cost(probed: ProbedDevice, kernel: cl.Kernel) -> Quantity | None:
    """A compute unit's seconds for each group of one work-item more."""
    counts = _GPU_GROUPS_OF_A_UNIT if probed.is_gpu else _GROUPS_OF_A_UNIT
    points = [
        (count, _typical_seconds(probed, kernel, probed.units * count, 1, (probed.sink, NO_ITEM)))
        for count in counts
    ]
    return slope(points)


def _item_cost(probed: ProbedDevice, kernel: cl.Kernel) -> Quantity | None:
    """A compute unit's seconds for each work-item more in all of its groups."""
    groups = _GPU_GROUPS_OF_A_UNIT[0] if probed.is_gpu else _GROUPS_OF_A_UNIT[-1]
    points = []
    for items in _GPU_ITEMS if probed.is_gpu else _ITEMS:
        if items <= probed.description.max_work_group_size:
            total = probed.units * groups * items
            points.append((groups * items, _typical_seconds(probed, kernel, total, items, (probed.sink, NO_ITEM))))
    return slope(points)


def _barrier_costs(probed: ProbedDevice, program: cl.Program) -> tuple[Quantity | None, Quantity | None]:
    """The seconds of a barrier, and those that each work-item of the group adds, with a group on each unit."""
    kernel = cl.Kernel(program, "barriers")
    points: list[tuple[float, float]] = []
    for items in _BARRIER_ITEMS:
        if items > probed.description.max_work_group_size:
            continue
        words = cl.LocalMemory(4 * items)

        def run(rounds: int, items: int = items, words: cl.LocalMemory = words) -> float:
            arguments = (probed.sink, np.uint32(rounds), NO_ITEM, words)
            return probed.event_seconds(kernel, probed.units * items, items, arguments)

        points.append((items, 1 / probed.rate(run, 2.0, 64).value))
    per_item = slope(points)
    return intercept(points, per_item.value if per_item else 0.0), per_item


def _typical_seconds(
    probed: ProbedDevice, kernel: cl.Kernel, total: int, local_size: int, arguments: tuple[object, ...]
) -> float:
    probed.event_seconds(kernel, total, local_size, arguments)
    times = [
        probed.event_seconds(kernel, total, local_size, arguments) for _ in range(probed.settings.repetitions)
    ]
    return seconds_of(times).value
