"""Runs workloads of benchmarks with any kernels: what tests compare results by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.errors import InternalError
from coarsen.tuning.measure.run import DeviceWorkload, KernelChoice, LaunchableKernel
from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, Workload


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a run: outputs, names of the buffers whose guard zones changed, the kernels' time."""

    outputs: dict[str, Array]
    violated: tuple[str, ...]
    nanoseconds: int


def run_workload(queue: cl.CommandQueue, workload: Workload, get_kernel: KernelChoice) -> RunResult:
    """Run a workload once.

    Args:
        queue: an in-order queue with profiling enabled.
        workload: the buffers and launches.
        get_kernel: gives the kernel to use for a launch.

    Returns:
        The outputs, the buffers whose guard zones changed, and the kernels' time.

    Raises:
        InvalidInputError: the queue does not profile.
        pyopencl.Error: the device refused a buffer or a launch.
    """
    on_device = DeviceWorkload(queue, workload)
    nanoseconds = on_device.run(on_device.prepared(get_kernel, workload.launches)).nanoseconds
    return RunResult(on_device.outputs(), on_device.violated(), nanoseconds)


def build_program(context: cl.Context, benchmark: Benchmark) -> cl.Program:
    """Build a benchmark's uncoarsened kernel for every device of the context."""
    return build_uncached(context, benchmark.source, benchmark.build_options)


def kernels_of(program: cl.Program) -> KernelChoice:
    """Return a kernel choice that takes a launch's kernel from this program; a kernel is made once."""
    # PyOpenCL's annotation of a kernel's arguments leaves out local memory, hence the cast.
    kernels = {kernel.function_name: cast("LaunchableKernel", kernel) for kernel in program.all_kernels()}

    def choose(launch: Launch) -> LaunchableKernel:
        if launch.kernel not in kernels:
            raise InternalError(f"the program has no kernel {launch.kernel!r}")
        return kernels[launch.kernel]

    return choose
