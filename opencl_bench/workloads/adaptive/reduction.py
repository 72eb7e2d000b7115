"""reduction: the sum of an array, in one pass or two, with more or fewer elements for a work-item."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel, Macros, items_for, values_of
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

TWO_PASSES, ATOMIC = range(2)
MACROS: Macros = {"IMPL": (TWO_PASSES, ATOMIC), "EACH": (8, 1, 2, 4, 16, 64, 256)}
LOCAL_SIZES: tuple[LocalSize, ...] = ((128,), (32,), (64,), (256,), (512,))
INT_BYTES = 4


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The groups' sums, and what makes one sum of them."""
    chosen = values_of(MACROS, size)
    (group,) = local_size
    items = items_for(size["n"], chosen["EACH"], group)
    sums = LocalArgument(INT_BYTES * group)
    arguments = (*buffers("elements"), *uint32(size["n"]), *buffers("result", "parts"), sums)
    each = Launch("reduction", items, local_size, arguments)
    if chosen["IMPL"] == ATOMIC:
        return Launch("reduction_zero", (1,), (1,), buffers("result")), each
    finish = (*buffers("parts"), *uint32(items[0] // group), *buffers("result"), sums)
    return each, Launch("reduction_finish", local_size, local_size, finish)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The elements use all 32 bits, so the sum wraps around, in the kernel and in the reference alike."""
    elements = generator.integers(-(2**31), 2**31, size["n"], dtype=np.int32)

    def reference() -> dict[str, Array]:
        return {"result": elements.sum(dtype=np.int32, keepdims=True)}

    most_parts = items_for(size["n"], min(MACROS["EACH"]), min(LOCAL_SIZES)[0])[0] // min(LOCAL_SIZES)[0]
    return Workload(
        buffers={
            "elements": elements,
            "result": unwritten(1, np.int32),
            "parts": unwritten(most_parts, np.int32),
        },
        launches=make_launches(size, local_size),
        outputs=("result",),
        reference=reference,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="reduction",
        inputs=InputSpace({"n": (1 << 8, 1 << 22)}, groups=32),
        test={"n": 3001},
        local_sizes=LOCAL_SIZES,
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        other_kernels=("reduction_finish", "reduction_zero"),
        features={"n": "n"},
    ),
)
