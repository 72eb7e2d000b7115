"""gemv_transposed: a transposed rows × columns matrix times a vector."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

ALPHA, BETA = 1.5, -0.5


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The last group is partly beyond the columns."""
    rows, columns = size["rows"], size["columns"]
    a = uniform(generator, -1, 1, (rows, columns))
    x, y = (uniform(generator, -1, 1, extent) for extent in (rows, columns))

    def reference() -> dict[str, Array]:
        product = np.einsum("rc,r->c", a, x, dtype=np.float64)
        return {"y": (ALPHA * product + BETA * y).astype(np.float32)}

    arguments = (*buffers("a", "x", "y"), *float32(ALPHA, BETA), *int32(rows, columns))
    return Workload(
        buffers={"a": a, "x": x, "y": y},
        launches=(Launch("gemv_transposed", covering((columns,), local_size), local_size, arguments),),
        outputs=("y",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * rows,
    )


BENCHMARK = judge_benchmark(
    "gemv_transposed",
    make_workload,
    {
        "test": Preset({"rows": 60, "columns": 301}, (64,)),
        "cpu": Preset({"rows": 2000, "columns": 4001}, (64,)),
        "gpu": Preset({"rows": 8000, "columns": 32001}, (128,)),
    },
    ((32,), (64,), (128,), (256,)),
)
