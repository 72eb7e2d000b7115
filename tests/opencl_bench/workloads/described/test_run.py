"""A described kernel runs, and its coarsened form gives the uncoarsened kernel's results."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.measure.comparison import compare
from tests.opencl_bench.workloads.coarsened_run import coarsened_kernels
from tests.opencl_bench.workloads.described.conftest import Write
from tests.workload_runs import build_program, kernels_of, run_workload


def test_results_are_those_of_the_inputs(queue: cl.CommandQueue, write: Write) -> None:
    read = read_benchmark(write())
    workload = read.workload("test", seed=2)
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, read)))
    shift = np.resize(workload.buffers["shift"], 1000)
    weight, factor = 2, 0.5
    wanted = weight * workload.buffers["input"][:, 1] * np.float32(factor) + shift + (7 - 1000 % 3)
    assert not result.violated
    np.testing.assert_allclose(result.outputs["output"], wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.compiled_devices
def test_coarsened_is_compared_with_uncoarsened(queue: cl.CommandQueue, write: Write) -> None:
    read = read_benchmark(write())
    workload = read.workload("test", local_size=(32,))
    expected = run_workload(queue, workload, coarsened_kernels(queue.context, read, 1, 0)).outputs
    result = run_workload(queue, workload, coarsened_kernels(queue.context, read, 8, 0))
    assert not result.violated
    assert compare(result.outputs, expected, workload) == []
    assert np.isfinite(expected["output"]).all()
