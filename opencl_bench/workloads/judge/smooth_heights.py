"""smooth_heights: weighted means of 3 × 3 heights of 16 bits, the border not written."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, uint32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

SHIFT = 5


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The weights are drawn, and add up to 2^SHIFT, so that a mean has 16 bits again."""
    width, height = size["width"], size["height"]
    heights = generator.integers(0, 2**16, (height, width), dtype=np.uint16)
    weights = (1 + generator.multinomial((1 << SHIFT) - 9, [1 / 9] * 9)).astype(np.uint32)
    before = unwritten((height, width), np.uint16)

    def reference() -> dict[str, Array]:
        smooth = before.copy()
        sums = np.full((height - 2, width - 2), 1 << (SHIFT - 1), np.uint32)
        for place, weight in enumerate(weights):
            y, x = divmod(place, 3)
            sums += weight * heights[y : y + height - 2, x : x + width - 2]
        smooth[1:-1, 1:-1] = sums >> SHIFT
        return {"smooth": smooth}

    arguments = (*buffers("heights", "smooth", "weights"), *uint32(SHIFT), *int32(width, height))
    return Workload(
        buffers={"heights": heights, "smooth": before, "weights": weights},
        launches=(Launch("smooth_heights", covering((width, height), local_size), local_size, arguments),),
        outputs=("smooth",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "smooth_heights",
    make_workload,
    {
        "test": Preset({"width": 70, "height": 43}, (16, 8)),
        "cpu": Preset({"width": 3001, "height": 1999}, (16, 16)),
        "gpu": Preset({"width": 12001, "height": 8001}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
