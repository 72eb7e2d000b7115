"""Kernels that learn launches under Oclgrind, no race between items, no access out of bounds."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.opencl_bench.workloads.training_kernels import training_kernel
from coarsen.tuning.measure.run import prepared_launch
from coarsen.tuning.workload.benchmark import LocalSize
from tests.opencl_bench.workloads.watched import log, runs_on, watched
from tests.workload_runs import kernels_of

__all__ = ["log", "runs_on", "watched"]

# Each mechanism once.
ROUND = [f"launch-0-{number}" for number in range(28)]
LEVELS = "launch-0-9"
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


def run_bare(queue: cl.CommandQueue, name: str, program: cl.Program, local_size: LocalSize) -> None:
    """Run an uncoarsened kernel on buffers that end where their contents do."""
    workload = training_kernel(name).workload("test", 0, local_size)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {each: cl.Buffer(queue.context, flags, hostbuf=array) for each, array in workload.buffers.items()}
    (launch,) = workload.launches
    prepared_launch(queue, kernels_of(program)(launch), launch, buffers)().wait()


@pytest.mark.parametrize("name", ROUND)
def test_nothing_is_found(watched: cl.CommandQueue, log: Path, name: str) -> None:
    benchmark = training_kernel(name)
    program = build_uncached(watched.context, benchmark.source, benchmark.build_options)
    for local_size in benchmark.local_sizes[:2]:
        run_bare(watched, name, program, local_size)
    assert log.read_text() == ""


def test_a_mistake_would_be_found(watched: cl.CommandQueue, log: Path) -> None:
    benchmark = training_kernel(LEVELS)
    wrong = benchmark.source.replace(BARRIER, "")
    assert wrong != benchmark.source
    program = build_uncached(watched.context, wrong, benchmark.build_options)
    run_bare(watched, LEVELS, program, benchmark.local_sizes[0])
    assert "data race at local memory" in log.read_text()
