"""median_of_nine: medians of 3 × 3 bytes of a height × width picture."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The last groups are partly beyond the picture."""
    width, height = size["width"], size["height"]
    image = generator.integers(0, 256, (height, width), dtype=np.uint8)

    def reference() -> dict[str, Array]:
        padded = np.pad(image, 1, mode="edge")
        shifted = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
        return {"filtered": np.median(shifted, axis=0).astype(np.uint8)}

    arguments = (*buffers("image", "filtered"), *int32(width, height))
    return Workload(
        buffers={"image": image, "filtered": unwritten((height, width), np.uint8)},
        launches=(Launch("median_of_nine", covering((width, height), local_size), local_size, arguments),),
        outputs=("filtered",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "median_of_nine",
    make_workload,
    {
        "test": Preset({"width": 53, "height": 43}, (16, 8)),
        "cpu": Preset({"width": 2003, "height": 1501}, (16, 16)),
        "gpu": Preset({"width": 8003, "height": 6001}, (32, 8), feasible=False),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
