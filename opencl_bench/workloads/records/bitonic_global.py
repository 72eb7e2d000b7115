"""bitonic_global: a bitonic sort of records in global memory, a launch per step."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.benchmark import Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.records.parts.bitonic_records import RECORD, global_step, make_contents, padded
from coarsen.opencl_bench.workloads.records_driver import RecordsKernel


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return log2(n) * (log2(n) + 1) / 2 steps."""
    levels = padded(size).bit_length()
    steps = ((1 << level, 2 << run) for run in range(levels - 1) for level in range(run, -1, -1))
    return tuple(global_step(size, local_size, distance, run) for distance, run in steps)


KERNEL = RecordsKernel(
    kernel="bitonic_global",
    file="bitonic",
    records={"records": RECORD},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"records": 301}, (32,)),
        "small": Preset({"records": 4_001}, (128,)),
        "cpu": Preset({"records": 20_011}, (128,)),
        "gpu": Preset({"records": 2_000_003}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
    other_kernels=("bitonic_local",),
)
