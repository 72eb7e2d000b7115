"""binarySearch: one probe of a sorted array of 2 · ranges elements, split into sub-ranges of two elements each."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, unwritten

LARGEST_STEP = 7


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The elements rise strictly, so exactly one sub-range holds the key."""
    ranges = round_up(size["ranges"], local_size[0])
    steps = generator.integers(1, LARGEST_STEP + 1, 2 * ranges, dtype=np.uint8)
    elements = np.cumsum(steps, dtype=np.uint32)
    key = int(elements[generator.integers(2 * ranges)])
    before = unwritten((1, 4), np.uint32)

    def reference() -> dict[str, Array]:
        found = before.copy()
        found[0, 0] = np.searchsorted(elements, key) // 2
        found[0, 3] = 1
        return {"output": found}

    arguments = (*buffers("output", "bounds"), *uint32(key))
    return Workload(
        buffers={"output": before, "bounds": elements.reshape(ranges, 2)},
        launches=(Launch("binarySearch", (ranges,), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


BENCHMARK = Benchmark(
    name="binarySearch",
    dimensions=(0,),
    presets={
        "test": Preset({"ranges": 960}, (192,)),
        "cpu": Preset({"ranges": 1 << 23}, (256,)),
        "paper": Preset({"ranges": 1 << 28}, (256,)),
        "gpu": Preset({"ranges": 1 << 27}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
