"""Tuning of a benchmark at one of its presets: a kernel of the suite, or one that a file describes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.tuning.captured_tuning import alone_on, check_python
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.launch_space import launch_space, local_sizes_beside, may_need_guard
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.opencl_bench.tuning.tuner import tune_launch
from coarsen.opencl_bench.tuning.tuning_processes import LaunchToTune
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch, LocalSize
from coarsen.variant.space import ArrayChoices
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant


def tune_described(
    name: str | Path,
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    arrays: tuple[ArrayChoices, ...] = (),
) -> Tuned:
    """Find the fastest variant of a benchmark; its macros have their first values.

    Args:
        name: what a plan calls it: a name of the suite, or the path of a TOML file.
        benchmark: what that is.
        preset: names the sizes.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        arrays: how arrays may lie; of what is found with them, `Tuned.laid_out` is the best.

    Raises:
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel.
        CoarsenError: as `tune_launch` does.
    """
    check_python()
    launch = LaunchToTune(benchmark, str(name), str(name), preset, device, transforms)
    with alone_on(device, settings.seconds):
        return tune_benchmark(launch, groups_matter, settings, Deadline(settings.seconds), arrays)


def tune_benchmark(
    launch: LaunchToTune,
    groups_matter: bool,
    settings: Tune,
    deadline: Deadline,
    arrays: tuple[ArrayChoices, ...] = (),
    first: Variant | None = None,
) -> Tuned:
    """Find the fastest variant of a launch; its macros have their first values.

    Args:
        launch: what is launched, and where.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        deadline: when it has to be over.
        arrays: how arrays may lie; of what is found with them, `Tuned.laid_out` is the best.
        first: a variant to begin with, where the space has it; an empty local size is the launch's own.

    Raises:
        InvalidInputError: no such preset; the local size is left open, which matters to the kernel.
        CoarsenError: as `tune_launch` does.
    """
    benchmark, preset = launch.benchmark, launch.preset
    own = benchmark.preset(preset).local_size
    others = local_sizes_to_try(benchmark, preset, own, launch.device, groups_matter, settings)
    sizes = (each.global_size for each in benchmark.real_launches(preset, own))
    has_guarded = not groups_matter and may_need_guard(sizes)
    space = replace(
        launch_space(own, others, launch.transforms, settings, has_guarded=has_guarded),
        definitions=tuple((macro, values[:1]) for macro, values in sorted(benchmark.tunables.items())),
        arrays=arrays,
    )
    return tune_launch(launch, space, settings, deadline, first)


def launches_alike(benchmark: Benchmark, preset: str) -> bool:
    """Return True if all launches of a preset are of one kernel and have the same sizes."""
    launches = benchmark.real_launches(preset, benchmark.preset(preset).local_size)
    return len({_sizes(launch) for launch in launches}) == 1


def _sizes(launch: Launch) -> tuple[str, tuple[int, ...], LocalSize]:
    return launch.kernel, launch.global_size, launch.local_size


def local_sizes_to_try(
    benchmark: Benchmark,
    preset: str,
    own: LocalSize,
    device: DeviceDescription,
    groups_matter: bool,
    settings: Tune,
) -> tuple[LocalSize, ...]:
    """Return the local sizes that the benchmark names beside a launch's; if none, usual ones where any will do.

    Args:
        benchmark: what is launched.
        preset: names the sizes.
        own: the launch's local size; empty where it is left open.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: whether other local sizes are allowed.

    Raises:
        InvalidInputError: the local size is left open, which matters to the kernel.
    """
    if benchmark.local_size_of is not None:
        return ()
    named = tuple(size for size in benchmark.local_sizes_of(preset) if size and size != own)
    if named:
        return named if settings.local_sizes else ()
    launches = benchmark.real_launches(preset, own)
    if len(launches) > 1 and own:
        return ()
    return local_sizes_beside(launches[0].global_size, own, device, groups_matter, settings)
