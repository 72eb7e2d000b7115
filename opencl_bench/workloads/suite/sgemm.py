"""sgemm: C = alpha·A·Bᵀ + beta·C with A of height × inner, B of width × inner, C of height × width elements.

The kernel is column-major, so every buffer holds the transpose of its matrix in NumPy's row-major order.
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
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform, whole_groups

ALPHA = 0.75
BETA = -1.25


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Height is along dimension 0, width along dimension 1."""
    height, width = whole_groups(size, ("height", "width"), local_size)
    inner = size["inner"]
    left = uniform(generator, -1, 1, (inner, height))
    right = uniform(generator, -1, 1, (inner, width))
    result = uniform(generator, -1, 1, (width, height))

    def reference() -> dict[str, Array]:
        product = right.T.astype(np.float64) @ left.astype(np.float64)
        return {"result": (ALPHA * product + BETA * result).astype(np.float32)}

    arguments = (
        *buffers("left"), *int32(height), *buffers("right"), *int32(width), *buffers("result"), *int32(height),
        *int32(inner), *float32(ALPHA, BETA),
    )  # fmt: skip
    return Workload(
        buffers={"left": left, "right": right, "result": result},
        launches=(Launch("sgemm", (height, width), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        # Partial sums of n products of numbers below 1 grow to sqrt(n), and n of them are rounded.
        absolute_tolerance=2e-7 * inner,
    )


BENCHMARK = Benchmark(
    name="sgemm",
    dimensions=(0, 1),
    presets={
        "test": Preset({"height": 64, "width": 96, "inner": 23}, (32, 32)),
        "cpu": Preset({"height": 640, "width": 512, "inner": 384}, (16, 16)),
        "paper": Preset({"height": 3072, "width": 3072, "inner": 3072}, (16, 16)),
        "gpu": Preset({"height": 4096, "width": 4096, "inner": 4096}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=make_workload,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)
