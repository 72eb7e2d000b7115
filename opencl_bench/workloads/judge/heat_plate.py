"""heat_plate: one step of heat in a plate of height × width points."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

RATE = 0.2


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The last groups are partly beyond the plate."""
    width, height = size["width"], size["height"]
    before = uniform(generator, 0, 100, (height, width))

    def reference() -> dict[str, Array]:
        now = before.astype(np.float64)
        after = now.copy()
        around = now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1]
        after[1:-1, 1:-1] += np.float32(RATE) * (around - 4 * now[1:-1, 1:-1])
        return {"after": after.astype(np.float32)}

    arguments = (*buffers("before", "after"), *int32(width, height), *float32(RATE))
    return Workload(
        buffers={"before": before, "after": unwritten((height, width), np.float32)},
        launches=(Launch("heat_plate", covering((width, height), local_size), local_size, arguments),),
        outputs=("after",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-4,
    )


BENCHMARK = judge_benchmark(
    "heat_plate",
    make_workload,
    {
        "test": Preset({"width": 75, "height": 37}, (16, 8)),
        "cpu": Preset({"width": 3001, "height": 2003}, (16, 16)),
        "gpu": Preset({"width": 8191, "height": 8001}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
