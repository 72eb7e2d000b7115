"""byte_histogram: how often each byte occurs, counted per group and then added up."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

BINS = 256
DARK_SHARE = 0.3


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Some bytes are frequent, as in a picture. The histogram goes on from what it holds."""
    quads, items = size["quads"], size["items"]
    drawn = generator.integers(0, BINS, (quads, 4), dtype=np.uint8)
    data = np.where(generator.random((quads, 4)) < DARK_SHARE, drawn >> 5, drawn)
    before = generator.integers(0, 1000, BINS, dtype=np.uint32)

    def reference() -> dict[str, Array]:
        return {"histogram": before + np.bincount(data.reshape(-1), minlength=BINS).astype(np.uint32)}

    arguments = (*buffers("bytes", "histogram"), *uint32(quads))
    return Workload(
        buffers={"bytes": data, "histogram": before},
        launches=(Launch("byte_histogram", covering((items,), local_size), local_size, arguments),),
        outputs=("histogram",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "byte_histogram",
    make_workload,
    {
        "test": Preset({"quads": 3001, "items": 512}, (64,)),
        "cpu": Preset({"quads": 1500001, "items": 1 << 14}, (128,)),
        "gpu": Preset({"quads": 50000001, "items": 1 << 18}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
