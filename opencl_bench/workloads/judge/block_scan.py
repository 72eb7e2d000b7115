"""block_scan: exclusive sums within blocks of two integers per work-item, and the blocks' sums."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, require_power_of_two, unwritten
from coarsen.opencl_bench.workloads.judge_driver import judge_benchmark

INT_BYTES = 4


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The sums wrap around. Raises InvalidInputError for a work-group of no power of two."""
    require_power_of_two("judge-block_scan", local_size)
    count, block = size["elements"], 2 * local_size[0]
    blocks = -(-count // block)
    elements = generator.integers(-(2**31), 2**31, count, dtype=np.int32)

    def reference() -> dict[str, Array]:
        padded = np.pad(elements, (0, blocks * block - count)).reshape(blocks, block)
        inclusive = np.cumsum(padded, axis=1, dtype=np.int32)
        return {"sums": (inclusive - padded).reshape(-1)[:count], "block_sums": inclusive[:, -1].copy()}

    tree = LocalArgument(INT_BYTES * block)
    arguments = (*buffers("input", "sums", "block_sums"), *int32(count), tree)
    return Workload(
        buffers={
            "input": elements,
            "sums": unwritten(count, np.int32),
            "block_sums": unwritten(blocks, np.int32),
        },
        launches=(Launch("block_scan", (blocks * local_size[0],), local_size, arguments),),
        outputs=("sums", "block_sums"),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "block_scan",
    make_workload,
    {
        "test": Preset({"elements": 1000}, (64,)),
        "cpu": Preset({"elements": 3000001}, (128,)),
        "gpu": Preset({"elements": 50000001}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
