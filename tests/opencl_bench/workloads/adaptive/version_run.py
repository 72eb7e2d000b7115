"""Running a version of a kernel that adapts on a device, and what is wrong with its results.

    python -m tests.opencl_bench.workloads.adaptive.version_run DEVICE [NAME …] [--every N] [--seconds S]

runs every N-th pair of a version and an input and prints what is wrong, and how long it took.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import pyopencl as cl

from coarsen.api import CoarsenedKernel
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import discover_devices, open_device
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
    """A version's program on a device; `added` are the arguments that a coarsened kernel takes besides."""

    kernels: KernelChoice
    added: Sequence[AddedArgument]


def build(context: cl.Context, kernel: AdaptiveKernel, version: Variant) -> Built:
    """Build a version for a context, coarsened where it is."""
    benchmark = kernel.benchmark
    options = [*benchmark.build_options, *(f"-D{name}={value}" for name, value in version.definitions)]
    if not version.is_coarsened:
        return Built(kernels_of(build_uncached(context, benchmark.source, options)), ())
    lowered = lower(benchmark.code, benchmark.kernel, tuple(options))
    made = CoarsenedKernel(coarsen_kernel(lowered, version.coarsenings), version.coarsenings, ())
    program = build_uncached(context, made.opencl_c, [made.opencl_c_standard])
    return Built(kernels_of(program), made.added_arguments)


def run(queue: cl.CommandQueue, built: Built, version: Variant, workload: Workload) -> RunResult:
    """Run a workload once with a version."""

    def choose(launch: Launch) -> LaunchableKernel:
        own = variant_launch(launch, version, built.added)
        added = [getattr(argument, "value", None) for argument in own.arguments[len(launch.arguments) :]]
        kernel = built.kernels(launch)
        return cast("LaunchableKernel", partial(_launched, kernel, own, added))

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
        result = run(queue, built, version, workload)
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
    """Check and time pairs of versions and inputs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=240.0)
    chosen = parser.parse_args()
    device = next(each for each in discover_devices() if each.is_called(chosen.device))
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    end = time.monotonic() + chosen.seconds
    for name in chosen.names or adaptive():
        _check(queue, adaptive_kernel(name), chosen.every, end)


def _check(queue: cl.CommandQueue, kernel: AdaptiveKernel, every: int, end: float) -> None:
    nanoseconds: list[int] = []
    build_seconds: list[float] = []
    wrong = 0
    pairs = [*itertools.product(kernel.versions, ["test", *kernel.listed])][::every]
    for version, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
        if time.monotonic() > end:
            print(f"{kernel.name}: out of time")
            break
        started = time.perf_counter()
        built = build(queue.context, kernel, version)
        build_seconds.append(time.perf_counter() - started)
        for _, preset in group:
            try:
                workload = kernel.benchmark.workload(preset, 1, version.local_size, version.definitions)
                result = run(queue, built, version, workload)
            except (cl.Error, InvalidInputError) as error:
                print(f"{kernel.name} {preset} {version}: {error}")
                wrong += 1
                continue
            nanoseconds.append(result.nanoseconds)
            found = [*compare(result.outputs, workload.expected(), workload), *result.violated]
            wrong += bool(found)
            for sentence in found:
                print(f"{kernel.name} {preset} {version}: {sentence}")
    if nanoseconds:
        cut = statistics.quantiles(nanoseconds, n=20) if len(nanoseconds) > 1 else nanoseconds * 19
        print(
            f"{kernel.name}: {len(nanoseconds)} runs, {wrong} wrong, launch {cut[0] / 1e6:.3f} "
            f"{statistics.median(nanoseconds) / 1e6:.3f} {cut[-1] / 1e6:.3f} ms (5, 50, 95 %), "
            f"build {statistics.median(build_seconds):.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
