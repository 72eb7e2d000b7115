"""stencil: one step of a 7-point stencil on a grid of depth × height × width points, the border untouched.

The presets' extents count the inner points, one less on each side; those along y and z are rounded up to whole
work-groups, those along x are guarded.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import convolve

from ..benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from ..driver_tools import buffers, float32, uint32, uniform, unwritten, whole_groups

CENTRE_WEIGHT = 1 / 6
NEIGHBOUR_WEIGHT = 1 / 36

WEIGHTS = np.zeros((3, 3, 3))
WEIGHTS[[0, 2, 1, 1, 1, 1], [1, 1, 0, 2, 1, 1], [1, 1, 1, 1, 0, 2]] = NEIGHBOUR_WEIGHT
WEIGHTS[1, 1, 1] = -CENTRE_WEIGHT


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """x is along dimension 0, y along dimension 1, z along dimension 2."""
    items = whole_groups(size, ("inner_x", "inner_y", "inner_z"), local_size)
    width, height, depth = size["inner_x"] + 2, items[1] + 2, items[2] + 2
    grid = uniform(generator, -1, 1, (depth, height, width))
    before = unwritten(grid.shape, np.float32)

    def reference() -> dict[str, Array]:
        after = before.copy()
        inner = (slice(1, -1),) * 3
        after[inner] = convolve(grid.astype(np.float64), WEIGHTS)[inner]
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


BENCHMARK = Benchmark(
    name="stencil",
    dimensions=(0, 1, 2),
    presets={
        "test": Preset({"inner_x": 50, "inner_y": 8, "inner_z": 6}, (32, 4, 2)),
        "cpu": Preset({"inner_x": 506, "inner_y": 254, "inner_z": 126}, (32, 2, 1)),
        "paper": Preset({"inner_x": 3000, "inner_y": 510, "inner_z": 62}, (64, 2, 1)),
    },
    divisible_local_sizes={0: (192, 2, 2), 1: (2, 192, 2), 2: (2, 2, 64)},
    make_workload=make_workload,
)
