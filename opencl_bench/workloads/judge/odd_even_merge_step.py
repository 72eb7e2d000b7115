"""odd_even_merge_step: Batcher's odd-even merge sort of records by their keys, a launch per step."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Any number of records; keys are all different, so that the order is the only one."""
    count = size["records"]
    keys = generator.permutation(count).astype(np.uint32)
    records = np.stack((keys, generator.integers(0, 2**32, count, dtype=np.uint32)), axis=1)

    def reference() -> dict[str, Array]:
        return {"records": records[np.argsort(keys)]}

    return Workload(
        buffers={"records": records},
        launches=tuple(
            Launch(
                "odd_even_merge_step",
                covering((count,), local_size),
                local_size,
                (*buffers("records"), *int32(count, run, distance)),
            )
            for run, distance in _steps(count)
        ),
        outputs=("records",),
        reference=reference,
    )


def _steps(count: int) -> list[tuple[int, int]]:
    """The runs that are merged, and the distances of what is compared for each."""
    levels = (count - 1).bit_length()
    return [(1 << run, 1 << level) for run in range(levels) for level in range(run, -1, -1)]


BENCHMARK = judge_benchmark(
    "odd_even_merge_step",
    make_workload,
    {
        "test": Preset({"records": 201}, (64,)),
        "cpu": Preset({"records": 60001}, (128,)),
        "gpu": Preset({"records": 2000001}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
