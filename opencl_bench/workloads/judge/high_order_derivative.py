"""high_order_derivative: the second derivative of a line by differences of the eighth order."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

WEIGHTS = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)
RADIUS = 4
SCALE = 4.0


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The last group is partly beyond the line."""
    count = size["samples"]
    samples = uniform(generator, -1, 1, count)
    weights = np.array(WEIGHTS, np.float32)

    def reference() -> dict[str, Array]:
        mask = np.concatenate((weights[:0:-1], weights)).astype(np.float64)
        derivative = np.zeros(count, np.float32)
        derivative[RADIUS:-RADIUS] = SCALE * np.convolve(samples.astype(np.float64), mask, mode="valid")
        return {"derivative": derivative}

    arguments = (*buffers("samples", "derivative"), *int32(count), *float32(SCALE), *buffers("weights"))
    return Workload(
        buffers={"samples": samples, "derivative": unwritten(count, np.float32), "weights": weights},
        launches=(Launch("high_order_derivative", covering((count,), local_size), local_size, arguments),),
        outputs=("derivative",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-5,
    )


BENCHMARK = judge_benchmark(
    "high_order_derivative",
    make_workload,
    {
        "test": Preset({"samples": 1003}, (64,)),
        "cpu": Preset({"samples": 8000001}, (128,)),
        "gpu": Preset({"samples": 100000001}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
