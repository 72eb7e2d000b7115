"""kmeansAssign: the nearest centroid of each point, by the numbers of points, centroids and coordinates."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    FLOAT_BYTES,
    AdaptiveKernel,
    Macros,
    items_for,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

GLOBAL, TILES = range(2)
MACROS: Macros = {"IMPL": (GLOBAL, TILES), "TILE": (16, 4, 64), "EACH": (1, 2, 4, 8)}
# Sums of squares of whole numbers as small as these are exact, in any order, and so is which one is the least.
LARGEST = 100


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch."""
    chosen = values_of(MACROS, size)
    (group,) = local_size
    tile = LocalArgument(FLOAT_BYTES * (size["d"] * chosen["TILE"] if chosen["IMPL"] == TILES else 1))
    numbers = uint32(size["n"], size["k"], size["d"])
    arguments = (*buffers("points", "centroids"), *numbers, *buffers("nearest"), tile)
    return (Launch("kmeansAssign", items_for(size["n"], chosen["EACH"], group), local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Coordinates are whole numbers."""
    points = generator.integers(-LARGEST, LARGEST, (size["d"], size["n"])).astype(np.float32)
    centroids = generator.integers(-LARGEST, LARGEST, (size["k"], size["d"])).astype(np.float32)

    def reference() -> dict[str, Array]:
        squares = (centroids**2).sum(axis=1)[:, None] - 2 * (centroids @ points)
        return {"nearest": squares.argmin(axis=0).astype(np.int32)}

    return Workload(
        buffers={"points": points, "centroids": centroids, "nearest": unwritten(size["n"], np.int32)},
        launches=make_launches(size, local_size),
        outputs=("nearest",),
        reference=reference,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="kmeansAssign",
        inputs=InputSpace(
            ranges={"n": (256, 1 << 18), "k": (2, 128), "d": (1, 32)},
            limits=("n * k * d <= 8388608", "n * k * d >= 16384", "n * d <= 1048576"),
            groups=32,
        ),
        test={"n": 501, "k": 21, "d": 5},
        local_sizes=((256,), (16,), (32,), (64,), (128,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(only_with(MACROS, "TILE", "IMPL", TILES),),
        features={"n": "n", "k": "k", "d": "d", "work": "n * k * d"},
    ),
)
