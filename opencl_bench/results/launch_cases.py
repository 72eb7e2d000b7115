"""From measured launches to what the launch model learns from: each kernel is lowered once, its work is planned.

measured launches ─▶ by kernel ─▶ lowered, planned at each launch's sizes, in several processes ─▶ LaunchCase
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.features.identity import kernel_identity
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.launch.case import LaunchCase, LaunchInputs, launch_inputs
from coarsen.models.launch.device import LaunchDevice, launch_device
from coarsen.models.launch.grid import usual_global_sizes
from coarsen.models.launch.planning import KernelPlanner, PlannedLaunch, WorkPlanner
from coarsen.opencl_bench.results.launch_rows import MeasuredLaunches, measured_launches
from coarsen.opencl_bench.results.learnable import check_learnable
from coarsen.opencl_bench.results.measured_rows import read_rows
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize, ScalarArgument
from coarsen.opencl_bench.workloads.kernel_source import find_measured, measured_family
from coarsen.opencl_bench.workloads.mechanisms import mechanisms_of
from coarsen.processes import mapped
from coarsen.variant.variant import Variant


@dataclass(frozen=True)
class LaunchCases:
    """Cases, and in a sentence each what was left out."""

    cases: tuple[LaunchCase, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Wanted:
    """A kernel's measured launches, the folder that may describe it, and whether its sizes are not told."""

    folder: Path | None
    measured: tuple[MeasuredLaunches, ...]
    at_usual_sizes: bool = False


def read_launch_cases(
    sources: Sequence[str],
    kernels: Path | None = None,
    processes: int | None = None,
    *,
    at_usual_sizes: bool = False,
) -> LaunchCases:
    """Return the cases of files or stores of results, each of which is a run of its own.

    Args:
        sources: files of results, stores, or names of sweeps that come with the package.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many plan work; see `processes.mapped`.
        at_usual_sizes: whether the cases also have inputs as if nobody had told sizes and arguments.

    Raises:
        InvalidInputError: a source can't be read, or a kernel is not known.
    """
    measured = measured_launches([read_rows(source) for source in sources])
    return launch_cases(measured, kernels, processes, at_usual_sizes=at_usual_sizes)


def read_learnable_cases(
    sources: Sequence[str], kernels: Path | None = None, processes: int | None = None
) -> LaunchCases:
    """Return the cases of files or stores that something is learned from: their runs become one.

    Raises InvalidInputError as `read_launch_cases`, and for a kernel of the second judge. Arguments as there.
    """
    measured = measured_launches([read_rows(source) for source in sources], joined=True)
    check_learnable((case.kernel for case in measured), kernels)
    return launch_cases(measured, kernels, processes)


def launch_cases(
    measured: Sequence[MeasuredLaunches],
    kernels: Path | None = None,
    processes: int | None = None,
    *,
    at_usual_sizes: bool = False,
) -> LaunchCases:
    """Return the cases of measured launches. Arguments and errors as those of `read_launch_cases`."""
    by_kernel: defaultdict[str, list[MeasuredLaunches]] = defaultdict(list)
    for case in measured:
        by_kernel[case.kernel].append(case)
    wanted = [_Wanted(kernels, tuple(found), at_usual_sizes) for found in by_kernel.values()]
    results = mapped(_cases, wanted, processes)
    cases = tuple(case for found in results for case in found if isinstance(case, LaunchCase))
    notes = [case for found in results for case in found if isinstance(case, str)]
    return LaunchCases(cases, tuple(dict.fromkeys(notes)))


def _cases(wanted: _Wanted) -> list[LaunchCase | str]:
    name = wanted.measured[0].kernel
    benchmark = find_measured(name, wanted.folder)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
        planner = KernelPlanner(PlannedKernel(kernel))
    except RefusalError as refusal:
        return [f"{name} can't be coarsened: {refusal}"]
    return [_case(benchmark, kernel, planner, wanted, measured) for measured in wanted.measured]


def _case(
    benchmark: Benchmark, kernel: Kernel, planner: WorkPlanner, wanted: _Wanted, measured: MeasuredLaunches
) -> LaunchCase | str:
    device = launch_device(DEVICE_DESCRIPTORS[measured.device])
    try:
        planned = _planned(benchmark, kernel, planner, measured)
        inputs = launch_inputs(planned, device)
        usual = tuple(_at_usual_sizes(planner, device, tuple(planned))) if wanted.at_usual_sizes else ()
    except (InvalidInputError, RefusalError) as error:
        return f"{measured.kernel} at {measured.preset} on {measured.device} is left out: {error}"
    times = dict(zip(measured.variants, measured.log_times, strict=True))
    errors = dict(zip(measured.variants, measured.errors.max(axis=1).tolist(), strict=True))
    own = Variant(benchmark.preset(measured.preset).local_size, definitions=benchmark.own_definitions)
    places = {variant: place for place, variant in enumerate(planned)}
    return LaunchCase(
        kernel=measured.kernel,
        identity=kernel_identity(kernel),
        family=measured_family(measured.kernel),
        mechanisms=mechanisms_of(measured.kernel),
        device=measured.device,
        size=measured.preset,
        inputs=inputs,
        log_times=np.array([times[variant] for variant in planned]),
        own=places.get(own),
        errors=np.array([errors[variant] for variant in planned]),
        usual=usual,
    )


def _planned(
    benchmark: Benchmark, kernel: Kernel, planner: WorkPlanner, measured: MeasuredLaunches
) -> Mapping[Variant, PlannedLaunch]:
    """The work of the launches with a time in some run; without those that the planner refuses."""
    found: dict[Variant, PlannedLaunch] = {}
    launches: dict[LocalSize, tuple[LaunchSizes, Mapping[str, int]]] = {}
    ran = np.flatnonzero(np.isfinite(measured.log_times).any(axis=1))
    for variant in (measured.variants[place] for place in ran):
        if variant.definitions != benchmark.own_definitions:
            continue
        if variant.local_size not in launches:
            launches[variant.local_size] = sizes_of_launch(benchmark, kernel, measured.preset, variant.local_size)
        try:
            found[variant] = planner.planned(variant, *launches[variant.local_size])
        except CoarsenError:
            if not variant.is_coarsened:
                raise
    bases = {variant for variant in found if not variant.is_coarsened}
    return {variant: each for variant, each in found.items() if variant.uncoarsened() in bases}


def _at_usual_sizes(
    planner: WorkPlanner, device: LaunchDevice, variants: Sequence[Variant]
) -> Iterator[LaunchInputs]:
    """The inputs of launches at each of the usual sizes, without any argument."""
    for global_size in usual_global_sizes(variants[0].local_size):
        planned = {}
        for variant in variants:
            original = LaunchSizes(padded(global_size), padded(variant.local_size))
            planned[variant] = planner.planned(variant, original, {})
        yield launch_inputs(planned, device)


def sizes_of_launch(
    benchmark: Benchmark, kernel: Kernel, preset: str, local_size: LocalSize
) -> tuple[LaunchSizes, Mapping[str, int]]:
    """Return the sizes of a benchmark's largest launch, and its whole scalar arguments by name.

    Raises:
        InvalidInputError: the local size is one that the algorithm can't use.
    """
    launch = max(benchmark.real_launches(preset, local_size), key=lambda each: np.prod(each.global_size))
    names = [argument.name for argument in kernel.arguments]
    scalars = {
        name: int(argument.value)
        for name, argument in zip(names, launch.arguments, strict=False)
        if isinstance(argument, ScalarArgument) and isinstance(argument.value, np.integer)
    }
    return LaunchSizes(padded(launch.global_size), padded(local_size)), scalars
