"""mvMul: a matrix times a vector, by group, by item or in parts: from a few long rows to many short ones."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

GROUPS, ITEMS, PARTS = range(3)
MACROS: Macros = {"IMPL": (GROUPS, ITEMS, PARTS), "ROWS": (1, 2, 4, 8), "SPLIT": (4, 2, 8, 16), "UNROLL": (1, 4)}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch, and another that adds the parts of rows where these are split."""
    width, height = size["width"], size["height"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    items = {
        GROUPS: items_for(height, chosen["ROWS"], 1)[0] * group,
        ITEMS: items_for(height, chosen["ROWS"], group)[0],
        PARTS: height * chosen["SPLIT"] * group,
    }[chosen["IMPL"]]
    sums = LocalArgument(FLOAT_BYTES * group * (chosen["ROWS"] if chosen["IMPL"] == GROUPS else 1))
    arguments = (*buffers("matrix", "vector"), *uint32(width, height), *buffers("result", "parts"), sums)
    first = Launch("mvMul", (items,), local_size, arguments)
    if chosen["IMPL"] != PARTS:
        return (first,)
    finish = (*buffers("parts"), *uint32(height), *buffers("result"))
    return first, Launch("mvMul_finish", items_for(height, 1, group), local_size, finish)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The parts have room for the largest number of them."""
    width, height = size["width"], size["height"]
    matrix = uniform(generator, -1, 1, (height, width))
    vector = uniform(generator, -1, 1, width)

    def reference() -> dict[str, Array]:
        return {"result": np.einsum("yx,x->y", matrix, vector, dtype=np.float64).astype(np.float32)}

    return Workload(
        buffers={
            "matrix": matrix,
            "vector": vector,
            "result": unwritten(height, np.float32),
            "parts": unwritten(height * max(MACROS["SPLIT"]), np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * width,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="mvMul",
        inputs=InputSpace(
            ranges={"width": (16, 1 << 17), "height": (16, 1 << 16)},
            limits=("width * height <= 4194304", "width * height >= 4096"),
            groups=32,
        ),
        test={"width": 250, "height": 17},
        local_sizes=((256,), (16,), (32,), (64,), (128,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "ROWS", "IMPL", GROUPS, ITEMS),
            only_with(MACROS, "SPLIT", "IMPL", PARTS),
            only_with(MACROS, "UNROLL", "IMPL", GROUPS, ITEMS),
        ),
        other_kernels=("mvMul_finish",),
        features={"width": "width", "height": "height", "elements": "width * height", "aspect": "width / height"},
    ),
)
