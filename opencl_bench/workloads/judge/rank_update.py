"""rank_update: the lower triangle of a symmetric matrix plus a product with its own transpose."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

ALPHA, BETA = 0.75, 1.25


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Above the diagonal the matrix stays as it is."""
    order, rank = size["order"], size["rank"]
    a = uniform(generator, -1, 1, (order, rank))
    c = uniform(generator, -1, 1, (order, order))

    def reference() -> dict[str, Array]:
        exact = a.astype(np.float64)
        updated = ALPHA * (exact @ exact.T) + BETA * c
        return {"c": np.where(np.tri(order, dtype=bool), updated, c).astype(np.float32)}

    arguments = (*buffers("a", "c"), *float32(ALPHA, BETA), *int32(order, rank))
    return Workload(
        buffers={"a": a, "c": c},
        launches=(Launch("rank_update", covering((order, order), local_size), local_size, arguments),),
        outputs=("c",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * rank,
    )


BENCHMARK = judge_benchmark(
    "rank_update",
    make_workload,
    {
        "test": Preset({"order": 51, "rank": 19}, (16, 8)),
        "cpu": Preset({"order": 700, "rank": 250}, (16, 16)),
        "gpu": Preset({"order": 4001, "rank": 1000}, (16, 16)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
