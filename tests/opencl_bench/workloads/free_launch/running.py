"""Builds kernels of free launch, as they are and coarsened, and runs them at their smallest size."""

from __future__ import annotations

import pyopencl as cl

from coarsen.opencl_bench.workloads.free_launch.workload import free_launch_benchmark
from coarsen.tuning.measure.run import enqueue_launch, kernels_of
from coarsen.tuning.workload.benchmark import LocalSize


def run_bare(queue: cl.CommandQueue, name: str, program: cl.Program, local_size: LocalSize) -> None:
    """Run an uncoarsened kernel on buffers that end where their contents do."""
    workload = free_launch_benchmark(name).workload("test", 0, local_size)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {each: cl.Buffer(queue.context, flags, hostbuf=array) for each, array in workload.buffers.items()}
    (launch,) = workload.launches
    enqueue_launch(queue, kernels_of(program)(launch), launch, buffers).wait()
