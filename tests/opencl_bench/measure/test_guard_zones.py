"""A kernel that leaves its buffers is found out, and a wrong one too."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import Array, Launch, Workload
from coarsen.tuning.workload.driver_tools import buffers, unwritten
from tests.workload_runs import RunResult, kernels_of, run_workload

ITEMS = 60

COPY = """
kernel void copy(global {type} *output, global const {type} *input)
{{
    int item = get_global_id(0);
    output[item {offset}] = input[item];
}}
"""


def copy_workload(dtype: type[np.generic]) -> Workload:
    numbers = np.arange(1, ITEMS + 1).astype(dtype)
    launch = Launch("copy", (ITEMS,), (4,), buffers("output", "input"))

    def reference() -> dict[str, Array]:
        return {"output": numbers}

    return Workload({"output": unwritten(ITEMS, dtype), "input": numbers}, (launch,), ("output",), reference)


def run_copy(queue: cl.CommandQueue, workload: Workload, type_name: str, offset: str) -> RunResult:
    program = build_uncached(queue.context, COPY.format(type=type_name, offset=offset))
    return run_workload(queue, workload, kernels_of(program))


@pytest.mark.parametrize(("type_name", "dtype"), [("uchar", np.uint8), ("float", np.float32), ("long", np.int64)])
def test_right_copy_leaves_guard_zones_alone(
    queue: cl.CommandQueue, type_name: str, dtype: type[np.generic]
) -> None:
    workload = copy_workload(dtype)
    result = run_copy(queue, workload, type_name, "")
    assert not result.violated
    assert compare(result.outputs, workload.expected(), workload) == []


# Oclgrind doesn't carry such a write out.
@pytest.mark.compiled_devices
@pytest.mark.parametrize("offset", ["+ 1", "- 1", "+ 100", "- 100"])
@pytest.mark.parametrize(("type_name", "dtype"), [("uchar", np.uint8), ("float", np.float32)])
def test_write_outside_is_found(
    queue: cl.CommandQueue, type_name: str, dtype: type[np.generic], offset: str
) -> None:
    result = run_copy(queue, copy_workload(dtype), type_name, offset)
    assert result.violated == ("output",)


# What must be replaced in each kernel to make it wrong.
MISTAKES = {
    "sgemm": ("beta * ", "alpha * "),
    "mt": ("y * width + x", "x * width + y"),
    "mtLocal": ("first.y, second.y", "second.y, first.y"),
    "reduce": (">> 1; active > 0", ">> 1; active > 1"),
    "spmv": ("diagonal = 0", "diagonal = 1"),
    "sobel": ("- bottom_right;", "+ bottom_right;"),
    "stencil": ("x < width - 1", "x < width - 2"),
    "blackscholes": ("1.330274429f", "1.230274429f"),
}


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", MISTAKES)
def test_wrong_kernel_is_found(queue: cl.CommandQueue, name: str) -> None:
    right, wrong = MISTAKES[name]
    source = SUITE[name].source
    assert right in source
    workload = SUITE[name].workload("test")
    program = build_uncached(queue.context, source.replace(right, wrong), SUITE[name].build_options)
    result = run_workload(queue, workload, kernels_of(program))
    assert compare(result.outputs, workload.expected(), workload) != []


def test_queue_without_profiling_is_refused(context: cl.Context) -> None:
    with pytest.raises(InvalidInputError, match="PROFILING_ENABLE"):
        run_copy(cl.CommandQueue(context), copy_workload(np.float32), "float", "")
