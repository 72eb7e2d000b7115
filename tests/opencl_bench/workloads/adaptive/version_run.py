"""Running a version of a kernel that adapts on a device, and what is wrong with its results.

    python -m tests.opencl_bench.workloads.adaptive.version_run DEVICE [NAME …] [--inputs N] [--every N]

runs all versions at some inputs and prints what is wrong, and how long it took.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import pyopencl as cl

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import AddedArgument
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.run import (
    KernelArgument,
    KernelChoice,
    LaunchableKernel,
    RunResult,
    kernels_of,
    run_workload,
)
from coarsen.opencl_bench.measure.variant_launch import variant_launch
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import Launch, Workload
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Built:
    """A version's programs on a device.

    `coarsened` has the kernel that is coarsened, and takes the arguments `added` besides; None where none is.
    """

    original: KernelChoice
    coarsened: KernelChoice | None = None
    added: Sequence[AddedArgument] = ()


def build(context: cl.Context, kernel: AdaptiveKernel, version: Variant) -> Built:
    """Build a version for a context, coarsened where it is."""
    benchmark = kernel.benchmark
    options = [*benchmark.build_options, *(f"-D{name}={value}" for name, value in version.definitions)]
    original = kernels_of(build_uncached(context, benchmark.source, options))
    if not version.is_coarsened:
        return Built(original)
    lowered = lower(benchmark.code, benchmark.kernel, tuple(options))
    made = CoarsenedKernel(coarsen_kernel(lowered, version.coarsenings), version.coarsenings, ())
    program = build_uncached(context, made.opencl_c, [made.opencl_c_standard])
    return Built(original, kernels_of(program), made.added_arguments)


def run(queue: cl.CommandQueue, built: Built, version: Variant, workload: Workload, kernel: str) -> RunResult:
    """Run a workload once with a version, of which the launches of one kernel are coarsened."""

    def choose(launch: Launch) -> LaunchableKernel:
        if built.coarsened is None or launch.kernel != kernel:
            return built.original(launch)
        own = variant_launch(launch, version, built.added)
        added = [getattr(argument, "value", None) for argument in own.arguments[len(launch.arguments) :]]
        return cast("LaunchableKernel", partial(_launched, built.coarsened(launch), own, added))

    return run_workload(queue, workload, choose)


def _launched(
    kernel: LaunchableKernel,
    own: Launch,
    added: list[KernelArgument],
    queue: cl.CommandQueue,
    _global_size: tuple[int, ...],
    _local_size: tuple[int, ...] | None,
    *arguments: KernelArgument,
    global_offset: tuple[int, ...] | None = None,
) -> cl.Event:
    return kernel(queue, own.global_size, own.local_size, *arguments, *added, global_offset=global_offset)


def mistakes(
    queue: cl.CommandQueue, kernel: AdaptiveKernel, version: Variant, presets: Iterable[str]
) -> list[str]:
    """What is wrong after a version has run on some inputs, in sentences."""
    built = build(queue.context, kernel, version)
    found: list[str] = []
    for preset in presets:
        workload = kernel.benchmark.workload(preset, 1, version.local_size, version.definitions)
        result = run(queue, built, version, workload, kernel.kernel)
        wrong = compare(result.outputs, workload.expected(), workload)
        found += [f"{preset}: {sentence}" for sentence in wrong]
        found += [f"{preset}: wrote outside of {name}" for name in result.violated]
    return found


def smallest_inputs(kernel: AdaptiveKernel) -> list[str]:
    """The test's sizes, and the smallest sizes of the list with all the contents that they have there."""
    group = kernel.inputs.group_of(kernel.listed["input-000"])
    return ["test", *(name for name, size in kernel.listed.items() if kernel.inputs.group_of(size) == group)]


def some_versions(kernel: AdaptiveKernel) -> list[Variant]:
    """The default version, and of each implementation one of the first and the last, which differ in most."""
    found: list[Variant] = [kernel.default]
    by_code: dict[tuple[str, bool], list[Variant]] = {}
    for version in kernel.versions:
        key = dict(version.definitions).get("IMPL", ""), version.is_coarsened
        by_code.setdefault(key, []).append(version)
    for same in by_code.values():
        found += (same[len(same) // 3], same[-1])
    return [*dict.fromkeys(found)]


def main() -> None:
    """Check and time versions at inputs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device")
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--inputs", type=int, default=4, help="how many of the listed ones, evenly; besides `test`"
    )
    parser.add_argument("--every", type=int, default=1, help="take only every so many versions")
    parser.add_argument("--seconds", type=float, default=240.0, help="begin with no further input after so many")
    chosen = parser.parse_args()
    device = find_device(chosen.device)
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    end = time.monotonic() + chosen.seconds
    for name in chosen.names or adaptive():
        kernel = adaptive_kernel(name)
        presets = ["test", *[*kernel.listed][:: max(len(kernel.listed) // chosen.inputs, 1)]]
        _check(queue, kernel, kernel.versions[:: chosen.every], presets, end)


def _check(
    queue: cl.CommandQueue, kernel: AdaptiveKernel, versions: Sequence[Variant], presets: Sequence[str], end: float
) -> None:
    started = time.perf_counter()
    built = {version: build(queue.context, kernel, version) for version in versions}
    building = time.perf_counter() - started
    nanoseconds: list[int] = []
    wrong = 0
    for preset in presets:
        if time.monotonic() > end:
            print(f"{kernel.name}: out of time at {preset}")
            break
        workload = kernel.benchmark.workload(preset, 1)
        expected = workload.expected()
        for version in versions:
            try:
                launches = kernel.benchmark.real_launches(preset, version.local_size, version.definitions, 1)
                own = replace(workload, launches=launches)
                result = run(queue, built[version], version, own, kernel.kernel)
            except (cl.Error, InvalidInputError) as error:
                found = [str(error)]
            else:
                found = [*compare(result.outputs, expected, workload), *result.violated]
                nanoseconds.append(result.nanoseconds)
            wrong += bool(found)
            for sentence in found:
                print(f"{kernel.name} {preset} {version}: {sentence}")
    if len(nanoseconds) > 1:
        cut = [each / 1e6 for each in statistics.quantiles(nanoseconds, n=20)]
        print(
            f"{kernel.name}: {len(nanoseconds)} runs, {wrong} wrong, launches {cut[0]:.3f}, {cut[9]:.3f}, "
            f"{cut[-1]:.3f} ms (5, 50, 95 %), {building / len(versions):.2f} s to build one, "
            f"{time.perf_counter() - started:.0f} s in all",
            flush=True,
        )


if __name__ == "__main__":
    main()
