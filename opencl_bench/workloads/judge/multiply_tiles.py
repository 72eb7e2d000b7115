"""multiply_tiles: height × inner times inner × width through tiles; the extents need not be whole tiles."""

from __future__ import annotations

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

FLOAT_BYTES = 4


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The work-group is square. Raises InvalidInputError where it isn't."""
    if local_size[0] != local_size[1]:
        raise InvalidInputError(f"judge-multiply_tiles: the local size must be square, not {local_size}")
    height, width, inner = size["height"], size["width"], size["inner"]
    a = uniform(generator, -1, 1, (height, inner))
    b = uniform(generator, -1, 1, (inner, width))

    def reference() -> dict[str, Array]:
        return {"product": (a.astype(np.float64) @ b).astype(np.float32)}

    tile = LocalArgument(FLOAT_BYTES * local_size[0] ** 2)
    arguments = (*buffers("a", "b", "product"), *int32(height, width, inner), tile, tile)
    return Workload(
        buffers={"a": a, "b": b, "product": unwritten((height, width), np.float32)},
        launches=(Launch("multiply_tiles", covering((width, height), local_size), local_size, arguments),),
        outputs=("product",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * inner,
    )


BENCHMARK = judge_benchmark(
    "multiply_tiles",
    make_workload,
    {
        "test": Preset({"height": 45, "width": 37, "inner": 29}, (8, 8)),
        "cpu": Preset({"height": 600, "width": 500, "inner": 400}, (16, 16)),
        "gpu": Preset({"height": 3001, "width": 2999, "inner": 3000}, (16, 16)),
    },
    ((4, 4), (8, 8), (16, 16), (32, 32)),
)
