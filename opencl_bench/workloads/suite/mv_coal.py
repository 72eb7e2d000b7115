"""mvCoal: a height × width matrix times a vector, a work-group per row, fewer work-groups than rows."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform, unwritten

FLOAT_BYTES = 4


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The work-groups share the rows among themselves, so any number of work-items does."""
    width, height = size["width"], size["height"]
    matrix = uniform(generator, -1, 1, (height, width))
    vector = uniform(generator, -1, 1, width)

    def reference() -> dict[str, Array]:
        # Unlike `@`, this makes no second copy of the matrix in the wider type.
        result = np.einsum("yx,x->y", matrix, vector, dtype=np.float64)
        return {"result": result.astype(np.float32)}

    arguments = (
        *buffers("matrix", "vector"),
        *uint32(width, height),
        *buffers("result"),
        LocalArgument(FLOAT_BYTES * local_size[0]),
    )
    items = round_up(size["items"], local_size[0])
    return Workload(
        buffers={"matrix": matrix, "vector": vector, "result": unwritten(height, np.float32)},
        launches=(Launch("mvCoal", (items,), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * width,
    )


BENCHMARK = Benchmark(
    name="mvCoal",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 250, "height": 17, "items": 768}, (192,)),
        "cpu": Preset({"width": 2200, "height": 8000, "items": 8192}, (128,)),
        "paper": Preset({"width": 1100, "height": 100_000, "items": 1 << 14}, (256,)),
        "gpu": Preset({"width": 1 << 14, "height": 1 << 14, "items": 1 << 19}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
