"""A benchmark's kernel through `coarsen.Program`, and the check that comes before any timing of it."""

from __future__ import annotations

from collections.abc import Mapping

import pyopencl as cl

from coarsen.devices.discovery import DeviceDescription, discover_devices
from coarsen.devices.health import check_health
from coarsen.errors import VerificationError
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.run import KernelChoice, LaunchableKernel, run_workload
from coarsen.opencl_bench.workloads.benchmark import Array, Benchmark, Launch, Workload
from coarsen.runtime.program import Program


def devices_to_measure() -> list[DeviceDescription]:
    """The devices that run a kernel, without Oclgrind: an interpreter is for checking, not for timing."""
    return [d for d in discover_devices() if check_health(d).works and not d.is_called("oclgrind")]


def coarsened_kernels(context: cl.Context, chosen: Benchmark, factor: int, dimension: int) -> KernelChoice:
    """A benchmark's kernel, built for a context and coarsened; factor 1 is the original."""
    program = Program(context, chosen.source, factor=factor, dim=dimension)
    program.build(list(chosen.build_options))
    kernel: LaunchableKernel = getattr(program, chosen.kernel)

    def choose(_launch: Launch) -> LaunchableKernel:
        return kernel

    return choose


def expected_outputs(queue: cl.CommandQueue, workload: Workload, original: KernelChoice) -> Mapping[str, Array]:
    """What the outputs should be: the reference's, or where there is none what the original kernel gives."""
    if workload.reference is not None:
        return workload.reference()
    return run_workload(queue, workload, original).outputs


def verify(
    queue: cl.CommandQueue, workload: Workload, kernels: Mapping[str, KernelChoice], expected: Mapping[str, Array]
) -> None:
    """Run each candidate once. Raises VerificationError where results or guard zones are not as they should be."""
    for name, choose in kernels.items():
        result = run_workload(queue, workload, choose)
        wrong = compare(result.outputs, expected, workload)
        if wrong or not result.guards_intact:
            raise VerificationError(f"{name}: {'; '.join(wrong) or 'wrote outside of a buffer'}")
