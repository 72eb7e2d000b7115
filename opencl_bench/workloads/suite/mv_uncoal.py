"""mvUncoal: a height × width matrix times a vector, a work-item per row."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform, unwritten


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The NDRange is rounded up to whole work-groups beyond the last row."""
    width, height = size["width"], size["height"]
    matrix = uniform(generator, -1, 1, (height, width))
    vector = uniform(generator, -1, 1, width)

    def reference() -> dict[str, Array]:
        # Unlike `@`, this makes no second copy of the matrix in the wider type.
        result = np.einsum("yx,x->y", matrix, vector, dtype=np.float64)
        return {"result": result.astype(np.float32)}

    arguments = (*buffers("matrix", "vector"), *uint32(width, height), *buffers("result"))
    return Workload(
        buffers={"matrix": matrix, "vector": vector, "result": unwritten(height, np.float32)},
        launches=(Launch("mvUncoal", (round_up(height, local_size[0]),), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * width,
    )


BENCHMARK = Benchmark(
    name="mvUncoal",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 33, "height": 700}, (192,)),
        "cpu": Preset({"width": 1500, "height": 12_000}, (64,)),
        "paper": Preset({"width": 1100, "height": 1 << 14}, (256,)),
        "gpu": Preset({"width": 1024, "height": 1 << 18}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
