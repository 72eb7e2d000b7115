"""small_products: products of pairs of 7 × 7 matrices."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

ORDER = 7


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Groups have more columns and rows than the matrices: some work-items do nothing."""
    count = size["pairs"]
    left, right = (uniform(generator, -1, 1, (count, ORDER, ORDER)) for _ in range(2))

    def reference() -> dict[str, Array]:
        return {"products": (left.astype(np.float64) @ right).astype(np.float32)}

    arguments = (*buffers("left", "right", "products"), *uint32(count))
    return Workload(
        buffers={"left": left, "right": right, "products": unwritten(left.shape, np.float32)},
        launches=(Launch("small_products", covering((ORDER, ORDER, count), local_size), local_size, arguments),),
        outputs=("products",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


BENCHMARK = judge_benchmark(
    "small_products",
    make_workload,
    {
        "test": Preset({"pairs": 45}, (8, 8, 4)),
        "cpu": Preset({"pairs": 40001}, (8, 8, 2)),
        "gpu": Preset({"pairs": 1000001}, (8, 8, 4)),
    },
    ((8, 8, 1), (8, 8, 2), (8, 8, 4), (8, 4, 4), (4, 4, 16)),
)
