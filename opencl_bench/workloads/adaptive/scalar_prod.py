"""scalarProd: scalar products of pairs of vectors, from a few long ones to many short ones."""

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
MACROS: Macros = {
    "IMPL": (GROUPS, ITEMS, PARTS),
    "GROUPS": (128, 0, 16, 1024),
    "SPLIT": (4, 2, 8, 16),
    "UNROLL": (1, 4),
}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch, and another that adds the parts where pairs are split."""
    pairs, elements = size["pairs"], size["elements"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    arguments = (
        *buffers("left", "right"), *uint32(pairs, elements), *buffers("products", "parts"),
        LocalArgument(FLOAT_BYTES * group),
    )  # fmt: skip
    items = {
        GROUPS: (min(pairs, chosen["GROUPS"] or pairs) * group,),
        ITEMS: items_for(pairs, 1, group),
        PARTS: (pairs * chosen["SPLIT"] * group,),
    }[chosen["IMPL"]]
    first = Launch("scalarProd", items, local_size, arguments)
    if chosen["IMPL"] != PARTS:
        return (first,)
    finish = (*buffers("parts"), *uint32(pairs), *buffers("products"))
    return first, Launch("scalarProd_finish", items_for(pairs, 1, group), local_size, finish)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The parts have room for the largest number of them."""
    pairs, elements = size["pairs"], size["elements"]
    left, right = (uniform(generator, -1, 1, (pairs, elements)) for _ in range(2))

    def reference() -> dict[str, Array]:
        return {"products": np.einsum("pe,pe->p", left, right, dtype=np.float64).astype(np.float32)}

    return Workload(
        buffers={
            "left": left,
            "right": right,
            "products": unwritten(pairs, np.float32),
            "parts": unwritten(pairs * max(MACROS["SPLIT"]), np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("products",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * elements,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="scalarProd",
        inputs=InputSpace(
            ranges={"pairs": (1, 1 << 15), "elements": (8, 1 << 19)},
            limits=("pairs * elements <= 2097152", "pairs * elements >= 4096"),
            groups=32,
        ),
        test={"pairs": 37, "elements": 101},
        local_sizes=((256,), (16,), (32,), (64,), (128,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "GROUPS", "IMPL", GROUPS),
            only_with(MACROS, "SPLIT", "IMPL", PARTS),
            only_with(MACROS, "UNROLL", "IMPL", GROUPS),
        ),
        other_kernels=("scalarProd_finish",),
        features={
            "pairs": "pairs",
            "elements": "elements",
            "all_elements": "pairs * elements",
            "aspect": "elements / pairs",
        },
    ),
)
