"""mv_columns: a vector times a matrix, a work-item per column, next to its neighbours' reads."""

from __future__ import annotations

from functools import partial

from coarsen.opencl_bench.workloads.benchmark import Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.opencl_bench.workloads.records.parts.matrix_vector import make_contents
from coarsen.opencl_bench.workloads.records_driver import RecordsKernel, covering


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the columns."""
    arguments = (*buffers("matrix", "vector", "result"), *uint32(size["height"], size["width"]))
    return (Launch("mv_columns", covering((size["width"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="mv_columns",
    file="mv_columns",
    records={},
    contents=partial(make_contents, is_transposed=True),
    launches=make_launches,
    presets={
        "test": Preset({"height": 45, "width": 141}, (32,)),
        "small": Preset({"height": 509, "width": 1021}, (64,)),
        "cpu": Preset({"height": 1021, "width": 4001}, (64,)),
        "gpu": Preset({"height": 1021, "width": 65_003}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
)
