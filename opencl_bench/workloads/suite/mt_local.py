"""mtLocal: transpose of a height × width matrix of floats, in 4 × 4 tiles staged through local memory.

The extents of the presets count tiles: a matrix has 4 · tiles_x columns and 4 · tiles_y rows.
"""

from __future__ import annotations

import math

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, uniform, unwritten, whole_groups

TILE = 4
FLOAT4_BYTES = 16


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The tiles' columns are along dimension 0, their rows along dimension 1; the work-group is square."""
    if local_size[0] != local_size[1]:
        raise InvalidInputError(f"mtLocal: the local size must be square, not {local_size}")
    tiles_x, tiles_y = whole_groups(size, ("tiles_x", "tiles_y"), local_size)
    width, height = TILE * tiles_x, TILE * tiles_y
    matrix = uniform(generator, -1, 1, (height, width))

    def reference() -> dict[str, Array]:
        return {"output": matrix.T.copy()}

    block = LocalArgument(TILE * FLOAT4_BYTES * math.prod(local_size))
    return Workload(
        buffers={"output": unwritten((width, height), np.float32), "input": matrix},
        launches=(Launch("mtLocal", (tiles_x, tiles_y), local_size, (*buffers("output", "input"), block)),),
        outputs=("output",),
        reference=reference,
    )


BENCHMARK = Benchmark(
    name="mtLocal",
    dimensions=(0, 1),
    presets={
        "test": Preset({"tiles_x": 48, "tiles_y": 32}, (16, 16)),
        "cpu": Preset({"tiles_x": 1024, "tiles_y": 768}, (16, 16)),
        "paper": Preset({"tiles_x": 4096, "tiles_y": 4096}, (16, 16)),
        "gpu": Preset({"tiles_x": 4096, "tiles_y": 2048}, (16, 16)),
    },
    # 32 x 32 work-items need 64 KiB of local memory.
    divisible_local_sizes={0: (32, 32), 1: (32, 32)},
    make_workload=make_workload,
    local_sizes=((4, 4), (8, 8), (16, 16), (32, 32)),
)
