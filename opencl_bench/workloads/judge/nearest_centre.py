"""nearest_centre: the nearest of some centres to each point of several coordinates."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

LEVELS = 64


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Coordinates are small whole numbers: distances are exact, and equal ones do occur."""
    count, centre_count, axes = size["points"], size["centres"], size["coordinates"]
    points = generator.integers(0, LEVELS, (axes, count)).astype(np.float32)
    centres = generator.integers(0, LEVELS, (centre_count, axes)).astype(np.float32)

    def reference() -> dict[str, Array]:
        least, nearest = np.full(count, np.inf, np.float32), np.zeros(count, np.int32)
        for number, centre in enumerate(centres):
            distances = np.square(points - centre[:, None]).sum(axis=0)
            nearest[distances < least] = number
            least = np.minimum(least, distances)
        return {"nearest": nearest}

    arguments = (*buffers("points", "centres", "nearest"), *int32(count, centre_count, axes))
    return Workload(
        buffers={"points": points, "centres": centres, "nearest": unwritten(count, np.int32)},
        launches=(Launch("nearest_centre", covering((count,), local_size), local_size, arguments),),
        outputs=("nearest",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "nearest_centre",
    make_workload,
    {
        "test": Preset({"points": 1003, "centres": 7, "coordinates": 3}, (64,)),
        "cpu": Preset({"points": 300001, "centres": 16, "coordinates": 8}, (128,)),
        "gpu": Preset({"points": 5000001, "centres": 32, "coordinates": 16}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
