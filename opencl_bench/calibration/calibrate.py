"""A device's profile, from all probes one after the other."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
import pyopencl as cl

from coarsen.base.version import __version__
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError
from coarsen.models.analytic.machine import DeviceProfile, LaunchCosts, Quantity, Source
from coarsen.opencl_bench.calibration.device import (
    NO_ITEM,
    ProbedDevice,
    Settings,
    at_least,
    intercept,
    levels_of,
    seconds_of,
    slope,
    source_of,
)
from coarsen.opencl_bench.calibration.memory import (
    TILE_WORDS,
    bandwidth_curve,
    cached_stride_cost,
    issue_rates,
    latency_curve,
    local_memory,
    stride_cost,
)

# Told what is measured next.
Progress = Callable[[str], None]

_GPU_SECTOR, _CPU_LINE = 32, 64
MEGAHERTZ = 1e6


def calibrate(
    device: DeviceDescription,
    name: str,
    settings: Settings | None = None,
    progress: Progress = lambda _: None,
) -> DeviceProfile:
    """Measure a device with small kernels.

    The caller holds the device's lock: other work on it would be measured too.

    Args:
        device: that works.
        name: of the profile.
        settings: how thoroughly; thoroughly if None.
        progress: told what is measured next.

    Raises:
        DeviceError: a probe can't be built or run.
    """
    start = time.monotonic()
    try:
        measured = _measured(ProbedDevice(device, settings or Settings()), name, progress)
    except (cl.Error, MemoryError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DeviceError(f"{device}: a probe failed: {reason}") from None
    seconds = time.monotonic() - start
    return replace(measured, source=_source(seconds))


def _measured(probed: ProbedDevice, name: str, progress: Progress) -> DeviceProfile:
    progress("launches")
    launch = launch_costs(probed, probed.build(source_of("launch.cl")))
    memory = probed.build(source_of("memory.cl"), f"-DTILE={TILE_WORDS}")
    progress("bandwidth")
    shared = bandwidth_curve(probed, memory, private=False)
    # What a unit reads again can't be slower to read than what another one had: only other work makes it seem so.
    private = at_least(bandwidth_curve(probed, memory, private=True), shared)
    progress("latency")
    latency = latency_curve(probed, memory)
    progress("strides")
    in_memory, in_cache = stride_cost(probed, memory), cached_stride_cost(probed, memory)
    local_bandwidth, local_cost = local_memory(probed, memory)
    progress("operations")
    described, device = probed.description, probed.device
    return DeviceProfile(
        name=name,
        device=described.name,
        vendor=described.vendor,
        platform=described.platform_name,
        driver=described.driver_version,
        is_gpu=probed.is_gpu,
        source=_source(0.0),
        compute_units=described.compute_units,
        simd_width=_simd_width(probed, memory),
        clock=float(device.max_clock_frequency) * MEGAHERTZ or None,
        local_memory=described.local_memory or None,
        local_memory_is_dedicated=device.local_mem_type == cl.device_local_mem_type.LOCAL,
        sector_bytes=_GPU_SECTOR if probed.is_gpu else _CPU_LINE,
        bandwidth=shared,
        private_bandwidth=private,
        latency=latency,
        # A GPU's first level is what a unit rereads; a CPU's caches are its cores' own.
        levels=levels_of(shared if probed.is_gpu else private, latency),
        stride_cost=in_memory,
        cached_stride_cost=in_cache,
        local_bandwidth=local_bandwidth,
        local_stride_cost=local_cost,
        rates=issue_rates(probed),
        launch=launch,
    )


def _simd_width(probed: ProbedDevice, program: cl.Program) -> int | None:
    """A GPU's warp, by what it prefers groups to be multiples of; a CPU's vector of `float`."""
    if not probed.is_gpu:
        return int(probed.device.native_vector_width_float) or None
    preferred = cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
    found = cast("int", cl.Kernel(program, "strided").get_work_group_info(preferred, probed.device))
    return int(found) or None


def _source(seconds: float) -> Source:
    versions = f"coarsen {__version__}, PyOpenCL {cl.VERSION_TEXT}, NumPy {np.__version__}"
    command = f"measured by coarsen devices --calibrate in {seconds:.0f} s"
    text = f"{command} ({versions}); sector_bytes is what such devices have"
    return Source("measured", datetime.datetime.now(datetime.UTC).date().isoformat(), text)


# The costs of starting work: launches, work-groups, work-items, barriers.
#
# The gap between launches is the host's time over many launches in a row: no sum of the durations of events has
# it.

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
        (count, probed.typical_seconds(kernel, probed.units * count, 1, (probed.sink, NO_ITEM)).value)
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
            taken = probed.typical_seconds(kernel, total, items, (probed.sink, NO_ITEM))
            points.append((groups * items, taken.value))
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
