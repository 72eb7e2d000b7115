"""reduce: sums of uint4 elements, one per work-group of `items` work-items that take two elements each."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, require_power_of_two, round_up, unwritten

UINT4_BYTES = 16


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The elements use all 32 bits, so the sums wrap around, in the kernel and in the reference alike."""
    require_power_of_two("reduce", local_size)
    items = round_up(size["items"], local_size[0])
    groups = items // local_size[0]
    elements = generator.integers(0, 2**32, (2 * items, 4), dtype=np.uint32)

    def reference() -> dict[str, Array]:
        by_group = elements.reshape(groups, -1, 4)
        return {"group_sums": by_group.sum(axis=1, dtype=np.uint32)}

    partial_sums = LocalArgument(UINT4_BYTES * local_size[0])
    return Workload(
        buffers={"input": elements, "group_sums": unwritten((groups, 4), np.uint32)},
        launches=(Launch("reduce", (items,), local_size, (*buffers("input", "group_sums"), partial_sums)),),
        outputs=("group_sums",),
        reference=reference,
    )


BENCHMARK = Benchmark(
    name="reduce",
    dimensions=(0,),
    presets={
        "test": Preset({"items": 640}, (128,)),
        "cpu": Preset({"items": 1 << 21}, (128,)),
        "paper": Preset({"items": 1 << 26}, (256,)),
        "gpu": Preset({"items": 1 << 25}, (256,)),
    },
    divisible_local_sizes={0: (128,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
