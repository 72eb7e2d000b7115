"""stencil: one step of a 7-point stencil on a grid of depth × height × width points, the border untouched.

The presets' extents count the inner points, one less on each side; those along y and z are rounded up to whole
work-groups, those along x are guarded.
"""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import (
    buffers,
    float32,
    uint32,
    uniform,
    unwritten,
    whole_groups,
)

CENTRE_WEIGHT = 1 / 6
NEIGHBOUR_WEIGHT = 1 / 36
NEIGHBOURS = 6


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """x is along dimension 0, y along dimension 1, z along dimension 2."""
    items = whole_groups(size, ("inner_x", "inner_y", "inner_z"), local_size)
    width, height, depth = size["inner_x"] + 2, items[1] + 2, items[2] + 2
    grid = uniform(generator, -1, 1, (depth, height, width))
    before = unwritten(grid.shape, np.float32)

    def reference() -> dict[str, Array]:
        after = before.copy()
        for z in range(1, depth - 1):
            after[z, 1:-1, 1:-1] = _step(grid[z - 1 : z + 2].astype(np.float64))
        return {"output": after}

    arguments = (
        *float32(CENTRE_WEIGHT, NEIGHBOUR_WEIGHT),
        *buffers("input", "output"),
        *uint32(width, height),
    )
    return Workload(
        buffers={"input": grid, "output": before},
        launches=(Launch("stencil", items, local_size, arguments),),
        outputs=("output",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


def _step(planes: Array) -> Array:
    """The inner points of the middle one of three planes, from the second differences along each axis."""
    inner = slice(1, -1)
    centre = planes[1, inner, inner]
    second_differences = (
        np.diff(planes[:, inner, inner], 2, axis=0)[0]
        + np.diff(planes[1, :, inner], 2, axis=0)
        + np.diff(planes[1, inner, :], 2, axis=1)
    )
    stepped: Array = (
        NEIGHBOUR_WEIGHT * second_differences + (NEIGHBOURS * NEIGHBOUR_WEIGHT - CENTRE_WEIGHT) * centre
    )
    return stepped


BENCHMARK = Benchmark(
    name="stencil",
    dimensions=(0, 1, 2),
    presets={
        "test": Preset({"inner_x": 50, "inner_y": 8, "inner_z": 6}, (32, 4, 2)),
        "cpu": Preset({"inner_x": 506, "inner_y": 256, "inner_z": 128}, (32, 2, 1)),
        # The paper's 510 × 62 would be rounded up to different extents for different work-groups.
        "paper": Preset({"inner_x": 3000, "inner_y": 512, "inner_z": 64}, (64, 2, 1)),
        "gpu": Preset({"inner_x": 1022, "inner_y": 512, "inner_z": 256}, (64, 2, 1)),
    },
    divisible_local_sizes={0: (192, 2, 2), 1: (2, 192, 2), 2: (2, 2, 64)},
    make_workload=make_workload,
    local_sizes=((32, 2, 1), (64, 2, 1), (128, 1, 1), (32, 4, 2), (8, 8, 4)),
)
