"""bitonic_step: a bitonic sort of 2^n integers, a launch per step."""

from __future__ import annotations

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.opencl_bench.workloads.judge_driver import judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Raises InvalidInputError for a work-group that doesn't divide the number of elements."""
    count = size["keys"]
    if count % local_size[0]:
        raise InvalidInputError(f"judge-bitonic_step: the local size must divide {count}, not {local_size[0]}")
    keys = generator.integers(-(2**31), 2**31, count, dtype=np.int32)

    def reference() -> dict[str, Array]:
        return {"keys": np.sort(keys)}

    levels = count.bit_length() - 1
    steps = ((1 << level, 2 << run) for run in range(levels) for level in range(run, -1, -1))
    return Workload(
        buffers={"keys": keys},
        launches=tuple(
            Launch("bitonic_step", (count,), local_size, (*buffers("keys"), *uint32(distance, run)))
            for distance, run in steps
        ),
        outputs=("keys",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "bitonic_step",
    make_workload,
    {
        "test": Preset({"keys": 256}, (64,)),
        "cpu": Preset({"keys": 1 << 16}, (128,)),
        "gpu": Preset({"keys": 1 << 21}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
