"""batchedGemm: products of many small matrices, from a few larger ones to very many tiny ones."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    FLOAT_BYTES,
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    items_for,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

GROUPS, PRODUCTS, ELEMENTS = range(3)
MACROS: Macros = {"IMPL": (GROUPS, PRODUCTS, ELEMENTS), "PACK": (1, 2, 4, 8), "STAGE": (0, 1)}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch."""
    batch, n = size["batch"], size["n"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    staged = LocalArgument(FLOAT_BYTES * (2 * chosen["PACK"] * n * n if chosen["STAGE"] else 1))
    arguments = (*buffers("left", "right"), *uint32(batch, n), *buffers("products"), staged)
    items = {
        GROUPS: (items_for(batch, chosen["PACK"], 1)[0] * group,),
        PRODUCTS: items_for(batch, 1, group),
        ELEMENTS: items_for(batch * n * n, 1, group),
    }[chosen["IMPL"]]
    return (Launch("batchedGemm", items, local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Every sum has n terms."""
    shape = (size["batch"], size["n"], size["n"])
    left, right = (uniform(generator, -1, 1, shape) for _ in range(2))

    def reference() -> dict[str, Array]:
        return {"products": (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)}

    return Workload(
        buffers={"left": left, "right": right, "products": unwritten(shape, np.float32)},
        launches=make_launches(size, local_size),
        outputs=("products",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * size["n"],
    )


KERNELS = (
    AdaptiveKernel(
        kernel="batchedGemm",
        inputs=InputSpace(
            ranges={"batch": (1, 1 << 17), "n": (2, 20)},
            limits=(
                "batch * n * n * n <= 8388608",
                "batch * n * n * n >= 8192",
                "batch * n * n <= 1048576",
            ),
            groups=32,
            corners=({"batch": 2048, "n": 16}, {"batch": 65536, "n": 4}, {"batch": 100, "n": 20}),
        ),
        test={"batch": 37, "n": 5},
        local_sizes=((64,), (16,), (32,), (128,), (256,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "PACK", "IMPL", GROUPS),
            only_with(MACROS, "STAGE", "IMPL", GROUPS),
            coarsened_only_with("IMPL", PRODUCTS, ELEMENTS),
        ),
        factors=(2, 4),
        features={"batch": "batch", "n": "n", "elements": "batch * n * n", "work": "batch * n * n * n"},
    ),
)
