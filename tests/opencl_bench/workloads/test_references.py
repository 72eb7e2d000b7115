"""Every benchmark's uncoarsened kernel gives its reference's results and stays inside its buffers."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import LocalSize
from tests.opencl_bench.workloads.divisible import DIVISIBLE
from tests.workload_runs import build_program, kernels_of, run_workload

DIVIDED = [
    pytest.param(name, local_size, id=f"{name}-{'x'.join(map(str, local_size))}")
    for name in SUITE
    for local_size in sorted(set(DIVISIBLE[name].values()))
]


def check(queue: cl.CommandQueue, name: str, local_size: LocalSize | None, seed: int) -> None:
    workload = SUITE[name].workload("test", seed, local_size)
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, SUITE[name])))
    assert compare(result.outputs, workload.expected(), workload) == []
    assert result.violated == ()
    assert result.nanoseconds > 0


@pytest.mark.parametrize("name", SUITE)
def test_default_local_size(queue: cl.CommandQueue, name: str) -> None:
    check(queue, name, None, seed=0)


# An interpreter has less local memory than the largest of these work-groups need.
@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "local_size"), DIVIDED)
def test_divisible_local_sizes(queue: cl.CommandQueue, name: str, local_size: LocalSize) -> None:
    check(queue, name, local_size, seed=1)
