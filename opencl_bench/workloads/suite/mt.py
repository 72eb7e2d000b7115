"""mt: transpose of a height × width matrix of floats, without local memory."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten, whole_groups


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Width is along dimension 0, height along dimension 1."""
    width, height = whole_groups(size, ("width", "height"), local_size)
    matrix = uniform(generator, -1, 1, (height, width))

    def reference() -> dict[str, Array]:
        return {"output": matrix.T.copy()}

    arguments = (*buffers("output", "input"), *uint32(width, height))
    return Workload(
        buffers={"output": unwritten((width, height), np.float32), "input": matrix},
        launches=(Launch("mt", (width, height), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


BENCHMARK = Benchmark(
    name="mt",
    dimensions=(0, 1),
    presets={
        "test": Preset({"width": 96, "height": 64}, (32, 32)),
        "cpu": Preset({"width": 4096, "height": 3072}, (16, 16)),
        "paper": Preset({"width": 4096, "height": 4096}, (16, 16)),
        "gpu": Preset({"width": 8192, "height": 8192}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=make_workload,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)
