"""The records that both kernels of the bitonic sort take, and their order."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32
from coarsen.opencl_bench.workloads.records_driver import Contents, filled, record

RECORD = record(key="ulong", number="uint", group="ushort", flag="uchar")
# Beyond 32 bits, so that a key that is cut shows.
_KEY_STEP = 0x1_2345_6789


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Keys that come several times each, so that the other fields decide as well; numbers that come once."""
    count = size["records"]
    records = filled(
        RECORD,
        key=generator.integers(0, max(count // 8, 1), count, dtype=np.uint64) * np.uint64(_KEY_STEP),
        number=generator.permutation(count) + 0x10000,
        group=generator.integers(0xFFF0, 0xFFF2, count),
        flag=generator.integers(0x40, 0x42, count),
    )

    def reference() -> dict[str, Array]:
        order = np.lexsort([records[name] for name in ("number", "flag", "group", "key")])
        return {"records": records[order]}

    return Contents({"records": records}, ("records",), reference)


def padded(size: Size) -> int:
    """Return the least power of two that is no smaller than the number of records, and 2 at least."""
    return 1 << max((size["records"] - 1).bit_length(), 1)


def global_step(size: Size, local_size: LocalSize, distance: int, run: int) -> Launch:
    """Return the launch of a step on all records: of pairs `distance` apart, in a run of so many records."""
    items = round_up(padded(size) // 2, local_size[0])
    arguments = (*buffers("records"), *uint32(size["records"], distance, 2 * distance == run))
    return Launch("bitonic_global", (items,), local_size, arguments)
