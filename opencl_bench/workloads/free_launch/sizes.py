"""The sizes of kernels of free launch: three classes, which the trips of their loops have no say in.

`few`: fewer work-groups than a large GPU has compute units. `caches`: buffers that fit caches. `memory`: buffers
that don't. The latter two are larger for GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from coarsen.opencl_bench.workloads.benchmark import LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import round_up
from coarsen.opencl_bench.workloads.free_launch.draws import Draws
from coarsen.opencl_bench.workloads.free_launch.frame import EXTENTS, Guard
from coarsen.opencl_bench.workloads.free_launch.kernel import DrawnKernel
from coarsen.opencl_bench.workloads.free_launch.parts import GRANULES, Extents
from coarsen.variant.transforms import DeviceKind

TEST = "test"
SIZES: Mapping[DeviceKind, tuple[str, str, str]] = {
    DeviceKind.CPU: ("few", "caches", "memory"),
    DeviceKind.GPU: ("few", "gpu_caches", "gpu_memory"),
}
TEST_TRIPS = 5
TEST_GROUPS = {1: (2,), 2: (2, 2), 3: (1, 2, 2)}
MEBIBYTE = 1 << 20
# Of all buffers, in bytes: the least and the most of a class.
BYTES = {
    "few": (0, 96 * MEBIBYTE),
    "caches": (MEBIBYTE // 4, 8 * MEBIBYTE),
    "memory": (48 * MEBIBYTE, 64 * MEBIBYTE),
    "gpu_caches": (4 * MEBIBYTE, 24 * MEBIBYTE),
    "gpu_memory": (96 * MEBIBYTE, 128 * MEBIBYTE),
}
# In units of a kernel's cost, about 0.1 ns of a CPU's time each: a few milliseconds on two cores, and what a large
# GPU takes less than one for.
MOST_COST = {"few": 40e6, "caches": 40e6, "memory": 40e6, "gpu_caches": 6e9, "gpu_memory": 6e9}
FEW_GRANULES = (2, 4, 8, 16, 32)
MOST_GRANULES = 1 << 16


def presets(kernel: DrawnKernel) -> dict[str, Preset]:
    """The presets `test` and those of all classes, at the kernel's own local size."""
    own, test = kernel.local_sizes[0], TEST_GROUPS[kernel.frame.dimensions]
    if kernel.sketch.item_per_group:
        test = (8,)
    sizes = {TEST: _size(kernel, test, TEST), **{name: _size_of_class(kernel, name) for name in BYTES}}
    return {name: Preset(size, own) for name, size in sizes.items()}


def extents_of(size: Size) -> Extents:
    """The extents of a preset's size."""
    return Extents(size["width"], size.get("height", 1), size.get("depth", 1), size["trips"])


def global_size_of(kernel: DrawnKernel, size: Size, local_size: LocalSize) -> tuple[int, ...]:
    """The NDRange at a size."""
    if kernel.sketch.item_per_group:
        return (size["width"] * local_size[0],)
    named = zip(EXTENTS, local_size, strict=False)
    return tuple(round_up(size[name], extent) for name, extent in named)


def byte_count(kernel: DrawnKernel, extents: Extents) -> int:
    """The bytes of all buffers."""
    return sum(buffer.elements(extents) * bytes_of(buffer.type) for buffer in kernel.sketch.buffers)


def bytes_of(kind: str) -> int:
    """The bytes of an element; all scalars have four."""
    return 4 * int(kind[-1]) if kind[-1].isdigit() else 4


def _size_of_class(kernel: DrawnKernel, name: str) -> Size:
    draws = Draws(kernel.seed, kernel.index, list(BYTES).index(name), 1)
    least, most = BYTES[name]
    one = _size(kernel, (1,) * kernel.frame.dimensions, name)
    items = 1 if kernel.sketch.item_per_group else math.prod(GRANULES[kernel.frame.dimensions])
    by_cost = MOST_COST[name] / (items * kernel.sketch.cost)
    two = _size(kernel, (2,) + (1,) * (kernel.frame.dimensions - 1), name)
    # What the buffers grow by with a granule; those that don't grow are no matter.
    grown = max(byte_count(kernel, extents_of(two)) - byte_count(kernel, extents_of(one)), 1)
    wanted = draws.pick(FEW_GRANULES) if least == 0 else draws.log_uniform(least, most) / grown
    granules = max(1, min(wanted, by_cost, most / grown, MOST_GRANULES))
    return _size(kernel, _arranged(draws, int(granules), kernel.frame.dimensions), name)


def _arranged(draws: Draws, granules: int, dimensions: int) -> tuple[int, ...]:
    """Arrange about so many granules along the dimensions, in numbers that work-groups can be merged by."""
    if dimensions == 1:
        return (_rounded(granules),)
    if dimensions == 2:
        # A granule is four times as wide as high.
        width = max(1, min(granules, round(math.sqrt(granules / 4) * draws.pick((0.5, 1, 1, 2, 4)))))
        columns = _rounded(width)
        return columns, _rounded(max(1, granules // columns))
    width = max(1, min(granules, round((granules / 32) ** (1 / 3) * draws.pick((1, 1, 2)))))
    columns = _rounded(width)
    rows = _rounded(max(1, min(granules // columns, round(math.sqrt(granules / columns / 2)))))
    return columns, rows, _rounded(max(1, granules // (columns * rows)))


def _rounded(number: int) -> int:
    """Round down to a number of few binary digits, so that most factors divide it."""
    step = 1 << max(0, number.bit_length() - 3)
    return max(1, number // step * step)


def _size(kernel: DrawnKernel, granules: tuple[int, ...], name: str) -> Size:
    """The extents of so many granules; with a guard, a few elements less."""
    frame, trips = kernel.frame, kernel.sketch.trips
    count = min(trips.count, TEST_TRIPS) if name == TEST and trips.is_symbolic else trips.count
    if kernel.sketch.item_per_group:
        return {"width": granules[0], "trips": count}
    draws = Draws(kernel.seed, kernel.index, list(BYTES).index(name) if name in BYTES else len(BYTES), 2)
    size = {}
    for dimension, (number, granule) in enumerate(zip(granules, GRANULES[frame.dimensions], strict=True)):
        # Less than any work-group's extent: the NDRange is the same for all of them.
        least = min(local_size[dimension] for local_size in kernel.local_sizes)
        missing = 0 if frame.guard is Guard.NONE else draws.whole(0, least - 1)
        size[EXTENTS[dimension]] = number * granule - missing
    return {**size, "trips": count}
