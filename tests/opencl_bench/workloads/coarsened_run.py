"""Running a benchmark of some name, coarsened, on a device."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.drop_in.program import Program
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.pipeline import CoarsenedKernel
from coarsen.tuning.measure.run import KernelChoice, LaunchableKernel
from coarsen.tuning.workload.benchmark import Benchmark, Launch, LocalArgument, Workload
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsened_with
from tests.fuzz import launches
from tests.workload_runs import RunResult, build_program, kernels_of, run_workload


@functools.lru_cache(maxsize=32)
def lowered(name: str) -> Kernel:
    """The kernel's IR."""
    chosen = find_benchmark(name)
    return lower(chosen.code, chosen.kernel, chosen.own_options)


@functools.lru_cache(maxsize=8)
def coarsened(name: str, chosen: Coarsening, any_size: bool) -> CoarsenedKernel:
    """The kernel coarsened. Raises RefusalError where it can't be."""
    return coarsened_with(lowered(name), (chosen,), any_size=any_size)


def run_original(queue: cl.CommandQueue, name: str, workload: Workload) -> RunResult:
    """Run the kernel as it is written; its outputs are what coarsened ones are compared with."""
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, find_benchmark(name))))
    assert not result.violated
    return result


def run_coarsened(queue: cl.CommandQueue, name: str, chosen: Coarsening, workload: Workload) -> RunResult:
    """Run the coarsened kernel with the workload's launches, for any size where one of them doesn't divide.

    Launches of other kernels are as they were.
    """
    benchmark = find_benchmark(name)
    own = [launch for launch in workload.launches if benchmark.coarsens(launch)]
    any_size = not all(launches.divides(_sizes(launch), (chosen,)) for launch in own)
    kernel = coarsened(name, chosen, any_size)
    program = build_uncached(queue.context, kernel.opencl_c, [kernel.opencl_c_standard])
    built = cl.Kernel(program, benchmark.kernel)
    others = kernels_of(build_program(queue.context, benchmark)) if benchmark.other_kernels else None

    def choose(launch: Launch) -> LaunchableKernel:
        if others is not None and not benchmark.coarsens(launch):
            return others(launch)
        sizes = launches.sizes_of(_sizes(launch), (chosen,), any_size, free_local_size=1)
        added = [_value(argument, launch) for argument in kernel.added_arguments]
        return lambda queue, _global, _local, *arguments, global_offset=None: built(
            queue, *sizes, *arguments, *added, global_offset=global_offset
        )

    return run_workload(queue, workload, choose)


def _sizes(launch: Launch) -> launches.Launch:
    return launches.Launch(launch.global_size, launch.local_size, None)


# PyOpenCL's annotation of a kernel's arguments leaves out local memory.
def _value(argument: AddedArgument, launch: Launch) -> Any:  # noqa: ANN401
    if argument.meaning == "global-size":
        return np.uint64(launch.global_size[argument.dimension])
    like = launch.arguments[argument.like]
    assert isinstance(like, LocalArgument)
    return cl.LocalMemory(like.byte_count)


def coarsened_kernels(context: cl.Context, chosen: Benchmark, factor: int, dimension: int) -> KernelChoice:
    """Return a benchmark's kernel, built for a context and coarsened; factor 1 is the original."""
    program = Program(context, chosen.source, factor=factor, dim=dimension)
    program.build(list(chosen.build_options))
    kernel: LaunchableKernel = getattr(program, chosen.kernel)

    def choose(_launch: Launch) -> LaunchableKernel:
        return kernel

    return choose
