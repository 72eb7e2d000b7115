"""The grid of a benchmark: the launches that the launch model considers, to be measured one and all.

The launch model learns from such rows, and is judged on them.

kernel, lowered ─▶ grid of launches at the preset's sizes ─▶ those that the plan of the transforms allows ─▶ Space
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.grid import launch_grid
from coarsen.models.launch.planning import WorkPlanner
from coarsen.prediction import AskedLaunch, own_launch, planned_launches
from coarsen.tuning.engine.plan import DeviceLimits, Space
from coarsen.tuning.launch_prior import sizes_of_launch
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant


def grid_space(benchmark: Benchmark, preset: str, kind: DeviceKind, limits: DeviceLimits) -> Space:
    """Return a space of the launches that a prediction for a benchmark considers, the own one first.

    What the driver or the device can't launch is among them: it becomes a row that says so.

    Args:
        benchmark: what is measured.
        preset: its sizes.
        kind: of the device; decides the transforms.
        limits: those of the device.

    Raises:
        InvalidInputError: no such preset, a local size that is left open, a kind that isn't known.
        RefusalError: the kernel can't be read.
    """
    if kind not in (DeviceKind.CPU, DeviceKind.GPU):
        raise InvalidInputError(
            "the grid is that of a CPU or a GPU, and which of them the device is isn't known here; "
            "--device cpu or gpu tells a pack"
        )
    local_size = benchmark.preset(preset).local_size
    if not local_size:
        raise InvalidInputError(f"{benchmark.name}: its local size is left open, so there is no grid around it")
    kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    sizes, arguments = sizes_of_launch(benchmark, kernel, preset, local_size)
    asked = AskedLaunch(local_size, sizes.global_size[: len(local_size)], arguments)
    # As the grid sees it: by its kind, and by the work-groups that it allows.
    device = LaunchDevice(kind.value, kind is DeviceKind.GPU, vectorises=False, simd_width=1, compute_units=1)
    device = device.limited(limits.max_work_group_size, limits.max_work_item_sizes)
    own = own_launch(kernel, asked)
    found: Iterable[Variant]
    try:
        (found,) = planned_launches(WorkPlanner(PlannedKernel(kernel)), own, device, asked)
    except RefusalError:
        # It can't be coarsened.
        launches = (candidate.variant for candidate in launch_grid(own, device))
        found = [variant for variant in launches if not variant.is_coarsened]
    return Space(variants=tuple(replace(each, definitions=benchmark.own_definitions) for each in found))
