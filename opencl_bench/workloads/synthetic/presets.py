"""The NDRanges of synthetic kernels: large enough to be measured, the same order of duration for all."""

from __future__ import annotations

import math

from coarsen.opencl_bench.workloads.benchmark import Preset, Size
from coarsen.opencl_bench.workloads.synthetic.axes import Guard
from coarsen.opencl_bench.workloads.synthetic.cost import item_cost
from coarsen.opencl_bench.workloads.synthetic.parameters import Parameter
from coarsen.opencl_bench.workloads.synthetic.sizes import NAMES, sizes_of
from coarsen.opencl_bench.workloads.synthetic.specification import Specification
from coarsen.opencl_bench.workloads.synthetic.workload import byte_count

# In units of `item_cost`: about 1.5 ms on two cores of a CPU, a quarter of a millisecond on a large GPU.
CPU_COST = 14e6
GPU_COST = 4e9
CPU_BYTES = 48 << 20
GPU_BYTES = 128 << 20
CPU_GROUPS = (8, 1 << 14)
GPU_GROUPS = (1 << 9, 1 << 18)
TEST_GROUPS = {1: (3,), 2: (3, 2)}
# Enough that some pass a guard.
TEST_ITEMS_OF_DATA_GUARD = 3072


def presets(specification: Specification, taken: list[Parameter]) -> dict[str, Preset]:
    """The presets `test`, `cpu` and `gpu`."""
    local_size = specification.axes.local_size
    test = _size(specification, _test_groups(specification))
    wanted = {
        "cpu": _groups(specification, taken, CPU_COST, CPU_BYTES, CPU_GROUPS),
        "gpu": _groups(specification, taken, GPU_COST, GPU_BYTES, GPU_GROUPS),
    }
    measured = {name: _size(specification, _arranged(specification, groups)) for name, groups in wanted.items()}
    return {name: Preset(size, local_size) for name, size in {"test": test, **measured}.items()}


def _test_groups(specification: Specification) -> tuple[int, ...]:
    first, *others = TEST_GROUPS[specification.axes.dimensions]
    if specification.axes.guard in (Guard.DATA, Guard.EARLY_RETURN):
        first = -(-TEST_ITEMS_OF_DATA_GUARD // (specification.group_size * math.prod(others)))
    return (first, *others)


def _groups(
    specification: Specification, taken: list[Parameter], cost: float, most_bytes: int, bounds: tuple[int, int]
) -> int:
    """Return the number of work-groups that cost so much, or of those that have so many bytes if that is less."""
    by_cost = cost / (item_cost(specification) * specification.group_size)
    sample = _arranged(specification, 64)
    sizes = sizes_of(specification, _size(specification, sample), specification.axes.local_size)
    by_bytes = most_bytes / (byte_count(taken, sizes) / math.prod(sample))
    fewest, most = bounds
    return max(fewest, min(most, round(min(by_cost, by_bytes))))


def _arranged(specification: Specification, groups: int) -> tuple[int, ...]:
    """Arrange work-groups in a line, or in a plane of about equal sides."""
    local_size = specification.axes.local_size
    if len(local_size) == 1:
        return (groups,)
    columns = max(1, round(math.sqrt(groups * local_size[1] / local_size[0])))
    return columns, max(1, round(groups / columns))


def _size(specification: Specification, groups: tuple[int, ...]) -> Size:
    local_size = specification.axes.local_size
    return {name: count * extent for name, count, extent in zip(NAMES, groups, local_size, strict=False)}
