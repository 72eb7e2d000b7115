"""joint_histogram: how often pairs of levels meet in two pictures of height × width bytes."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

SHIFT = 3
MASKED_SHARE = 0.4


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The second picture is like the first one, so that some pairs are frequent."""
    width, height = size["width"], size["height"]
    first = generator.integers(0, 256, (height, width), dtype=np.uint8)
    noise = generator.integers(-20, 21, (height, width))
    second = np.clip(first.astype(np.int64) + noise, 0, 255).astype(np.uint8)
    mask = (generator.random((height, width)) >= MASKED_SHARE).astype(np.uint8)
    bins = 256 >> SHIFT

    def reference() -> dict[str, Array]:
        pairs = (first[mask > 0] >> SHIFT).astype(np.int64) * bins + (second[mask > 0] >> SHIFT)
        return {"histogram": np.bincount(pairs, minlength=bins**2).astype(np.int32)}

    arguments = (*buffers("first", "second", "mask", "histogram"), *int32(width, height, SHIFT))
    return Workload(
        buffers={"first": first, "second": second, "mask": mask, "histogram": np.zeros(bins**2, np.int32)},
        launches=(Launch("joint_histogram", covering((width, height), local_size), local_size, arguments),),
        outputs=("histogram",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "joint_histogram",
    make_workload,
    {
        "test": Preset({"width": 53, "height": 41}, (16, 8)),
        "cpu": Preset({"width": 1601, "height": 1203}, (16, 16)),
        "gpu": Preset({"width": 8001, "height": 6001}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
