"""bitonic_local: a bitonic sort of records, whose steps within a work-group's block are in local memory."""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.opencl_bench.workloads.benchmark import Launch, LocalArgument, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, require_power_of_two, round_up, uint32
from coarsen.opencl_bench.workloads.records.parts.bitonic_records import RECORD, global_step, make_contents, padded
from coarsen.opencl_bench.workloads.records_driver import RecordsKernel


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Raises InvalidInputError unless the work-group has a power of two of work-items."""
    require_power_of_two(KERNEL.name, local_size)
    return tuple(_launches(size, local_size))


def _launches(size: Size, local_size: LocalSize) -> Iterator[Launch]:
    block = 2 * local_size[0]
    yield _local_steps(size, local_size, 2, block)
    run = 2 * block
    while run <= padded(size):
        distance = run // 2
        while distance >= block:
            yield global_step(size, local_size, distance, run)
            distance //= 2
        yield _local_steps(size, local_size, run, run)
        run *= 2


def _local_steps(size: Size, local_size: LocalSize, first_run: int, last_run: int) -> Launch:
    items = round_up(padded(size) // 2, local_size[0])
    arguments = (
        *buffers("records"), *uint32(size["records"], first_run, last_run),
        LocalArgument(2 * local_size[0] * RECORD.itemsize),
    )  # fmt: skip
    return Launch("bitonic_local", (items,), local_size, arguments)


KERNEL = RecordsKernel(
    kernel="bitonic_local",
    file="bitonic",
    records={"records": RECORD, "tile": RECORD},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"records": 301}, (32,)),
        "small": Preset({"records": 4_001}, (128,)),
        "cpu": Preset({"records": 20_011}, (128,)),
        "gpu": Preset({"records": 2_000_003}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
    other_kernels=("bitonic_global",),
)
