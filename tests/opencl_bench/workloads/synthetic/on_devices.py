"""Builds synthetic kernels, as they are and coarsened, and runs them at their smallest sizes."""

from __future__ import annotations

import functools

import pyopencl as cl

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.building import build_uncached
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.measure.run import (
    KernelChoice,
    LaunchableKernel,
    RunResult,
    enqueue_launch,
    kernels_of,
    run_workload,
)
from coarsen.opencl_bench.workloads.benchmark import Launch, Workload
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Configuration
from tests.transform.harness import build_coarsened, divided


@functools.lru_cache(maxsize=32)
def workload_of(index: int) -> Workload:
    """The buffers and the launch of the kernel `synthetic-0-<index>`."""
    return synthetic_benchmark(0, index).workload("test")


def original(context: cl.Context, index: int, source: str | None = None) -> KernelChoice:
    """A kernel as it was drawn, or another source in its place."""
    benchmark = synthetic_benchmark(0, index)
    return kernels_of(build_uncached(context, source or benchmark.source, benchmark.build_options))


def coarsened(context: cl.Context, index: int, chosen: Configuration) -> KernelChoice:
    """A kernel coarsened, through OpenCL C."""
    benchmark = synthetic_benchmark(0, index)
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    kernel = CoarsenedKernel(coarsen_kernel(lowered, chosen), chosen, ())
    built = build_coarsened(context, kernel, "opencl_c", benchmark.build_options)

    def choose(_launch: Launch) -> LaunchableKernel:
        return lambda queue, global_size, local_size, *arguments, global_offset=None: built(
            queue,
            divided(global_size, chosen),
            divided(local_size, chosen),
            *arguments,
            global_offset=global_offset,
        )

    return choose


def run_guarded(queue: cl.CommandQueue, index: int, kernel: KernelChoice) -> RunResult:
    """Run a kernel on buffers between guard zones."""
    return run_workload(queue, workload_of(index), kernel)


def run_bare(queue: cl.CommandQueue, index: int, kernel: KernelChoice) -> None:
    """Run a kernel on buffers that end where their contents do."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arrays = workload_of(index).buffers.items()
    buffers = {name: cl.Buffer(queue.context, flags, hostbuf=array) for name, array in arrays}
    (launch,) = workload_of(index).launches
    enqueue_launch(queue, kernel(launch), launch, buffers).wait()
