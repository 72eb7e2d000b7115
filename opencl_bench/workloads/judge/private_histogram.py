"""private_histogram: sixteen classes of measured values, counted by each work-item for itself."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

CLASSES = 16
LOWEST, HIGHEST = -1.0, 3.0


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Some values are out of range and count for the nearest class. Every work-item writes its own counts."""
    count, items = size["values"], covering((size["items"],), local_size)[0]
    # Multiples of 1/64, so that no rounding decides about the class.
    values = (generator.integers(-100, 230, count) / 64).astype(np.float32)
    per_class = CLASSES / (HIGHEST - LOWEST)

    def reference() -> dict[str, Array]:
        found = np.clip(np.trunc((values - LOWEST) * per_class), 0, CLASSES - 1).astype(np.int64)
        places = found * items + np.arange(count) % items
        counts = np.bincount(places, minlength=CLASSES * items)
        return {"counts": counts.reshape(CLASSES, items).astype(np.uint32)}

    arguments = (*buffers("values", "counts"), *uint32(count), *float32(LOWEST, per_class))
    return Workload(
        buffers={"values": values, "counts": unwritten((CLASSES, items), np.uint32)},
        launches=(Launch("private_histogram", (items,), local_size, arguments),),
        outputs=("counts",),
        reference=reference,
    )


BENCHMARK = judge_benchmark(
    "private_histogram",
    make_workload,
    {
        "test": Preset({"values": 3001, "items": 128}, (64,)),
        "cpu": Preset({"values": 4000001, "items": 1 << 14}, (128,)),
        "gpu": Preset({"values": 100000001, "items": 1 << 18}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
