"""scan: running sums, in three phases or by one work-group, with more or fewer elements for a work-item."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel, Macros, items_for, values_of
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

SUMS_FIRST, ADDED_LAST, ONE_GROUP = range(3)
MACROS: Macros = {"IMPL": (SUMS_FIRST, ADDED_LAST, ONE_GROUP), "EACH": (4, 1, 2, 8, 16)}
LOCAL_SIZES: tuple[LocalSize, ...] = ((256,), (32,), (64,), (128,), (512,))
INT_BYTES = 4


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Three phases, two where one block is all, or one launch of one work-group."""
    n = size["n"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    items = items_for(n, chosen["EACH"], group)
    blocks = items[0] // group
    sums = LocalArgument(INT_BYTES * group)
    arguments = (*buffers("elements"), *uint32(n), *buffers("output", "blocks"), sums)
    if chosen["IMPL"] == ONE_GROUP:
        return (Launch("scan", local_size, local_size, arguments),)
    write = Launch("scan", items, local_size, arguments)
    tops = Launch("scan_tops", local_size, local_size, (*buffers("blocks"), *uint32(blocks), sums))
    if chosen["IMPL"] == SUMS_FIRST:
        add_up = (*buffers("elements"), *uint32(n), *buffers("blocks"), sums)
        return Launch("scan_sums", items, local_size, add_up), tops, write
    if blocks == 1:
        return write, tops
    add = (*buffers("blocks"), *uint32(n), *buffers("output"))
    return write, tops, Launch("scan_add", (items[0] - group,), local_size, add)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The elements use all 32 bits, so the sums wrap around, in the kernel and in the reference alike."""
    elements = generator.integers(-(2**31), 2**31, size["n"], dtype=np.int32)

    def reference() -> dict[str, Array]:
        return {"output": np.cumsum(elements, dtype=np.int32)}

    smallest = min(LOCAL_SIZES)[0]
    return Workload(
        buffers={
            "elements": elements,
            "output": unwritten(size["n"], np.int32),
            "blocks": unwritten(items_for(size["n"], min(MACROS["EACH"]), smallest)[0] // smallest, np.int32),
        },
        launches=make_launches(size, local_size),
        outputs=("output",),
        reference=reference,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="scan",
        inputs=InputSpace({"n": (1 << 8, 1 << 21)}, groups=32),
        test={"n": 3001},
        local_sizes=LOCAL_SIZES,
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        other_kernels=("scan_sums", "scan_tops", "scan_add"),
        features={"n": "n"},
    ),
)
