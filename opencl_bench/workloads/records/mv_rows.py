"""mv_rows: a matrix times a vector, a work-item per row, which lies across its neighbours' reads."""

from __future__ import annotations

from functools import partial

from coarsen.opencl_bench.workloads.benchmark import Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.opencl_bench.workloads.records.parts.matrix_vector import make_contents
from coarsen.opencl_bench.workloads.records_driver import RecordsKernel, covering


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the rows."""
    arguments = (*buffers("matrix", "vector", "result"), *uint32(size["height"], size["width"]))
    return (Launch("mv_rows", covering((size["height"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="mv_rows",
    file="mv_rows",
    records={},
    contents=partial(make_contents, is_transposed=False),
    launches=make_launches,
    presets={
        "test": Preset({"height": 141, "width": 45}, (32,)),
        "small": Preset({"height": 1021, "width": 509}, (64,)),
        "cpu": Preset({"height": 4001, "width": 1021}, (64,)),
        "gpu": Preset({"height": 65_003, "width": 1021}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
)
