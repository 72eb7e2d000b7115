"""Tuning of a captured launch, in a temporary folder: what a program would launch is measured apart from it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.frontend.one_kernel import source_of_one_kernel
from coarsen.opencl_bench.sweep.device_lock import device_lock_within
from coarsen.opencl_bench.sweep.plan import limits_of
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.launch_space import launch_space, may_need_guard, other_local_sizes
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.opencl_bench.tuning.tuner import tune_launch
from coarsen.opencl_bench.tuning.tuning_folder import tuning_folder
from coarsen.opencl_bench.tuning.tuning_processes import LaunchToTune
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.captured import write_capture
from coarsen.opencl_bench.workloads.described.captured_launch import CapturedLaunch
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

# A captured launch has one size, whatever the preset.
_PRESET = "test"


def tune_captured(
    launch: CapturedLaunch,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    deadline: Deadline,
    first: Variant | None = None,
) -> Tuned:
    """Find the fastest variant of a captured launch.

    Args:
        launch: what was captured.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        deadline: when it has to be over.
        first: a variant to begin with; an empty local size is the launch's own.

    Raises:
        DeviceError: the device can't be opened a second time; the time was over before anything was found out.
        VerificationError: the launch does not give the same results twice.
        InvalidInputError: the launch can't be described, or no process can be started for it; its local size is
            left open, which matters to the kernel.
        RefusalError: the kernel can't be coarsened at all.
    """
    check_python()
    others = local_sizes_beside(launch.global_size, launch.local_size, device, groups_matter, settings)
    has_guarded = not groups_matter and may_need_guard([launch.global_size])
    space = launch_space(launch.local_size, others, transforms, settings, has_guarded=has_guarded)
    source = source_of_one_kernel(launch.source, launch.kernel, launch.options, launch.macros)
    with tuning_folder() as folder:
        description = write_capture(replace(launch, source=source), folder, "launch")
        # Other local sizes are only tried where results can't depend on them.
        described = LaunchToTune(
            str(description), _PRESET, device, transforms, launch.byte_count, launch.local_size
        )
        try:
            return tune_launch(described, space, settings, deadline, first)
        except (InvalidInputError, DeviceError, VerificationError) as error:
            raise type(error)(_without_files(str(error), description, launch.kernel)) from error


def _without_files(message: str, description: Path, kernel: str) -> str:
    """Return a message that names what is tuned in place of temporary files."""
    named = message.replace(str(description), f"the kernel '{kernel}'")
    return named.replace(str(description.with_suffix(".cl")), "the source").replace(f"{description.parent}/", "")


@contextmanager
def alone_on(device: DeviceDescription, seconds: float) -> Iterator[None]:
    """Keep others from measuring on a device meanwhile.

    Raises DeviceError if one of them still does after some seconds.
    """
    with device_lock_within(device, seconds) as holder:
        if holder:
            raise DeviceError(f"{holder} measures on {device.name}, and did not end within {seconds:.3g} s")
        yield


def local_sizes_beside(
    global_size: tuple[int, ...],
    own: LocalSize,
    device: DeviceDescription,
    groups_matter: bool,
    settings: Tune,
) -> tuple[LocalSize, ...]:
    """Return the local sizes that a launch is tried at beside its own.

    Args:
        global_size: in work-items.
        own: its local size; empty where it is left open.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: whether other local sizes are allowed.

    Raises:
        InvalidInputError: it is left open, which matters to the kernel.
    """
    is_free = settings.local_sizes and not groups_matter
    others = other_local_sizes(global_size, own, limits_of(device)) if is_free else ()
    if groups_matter and not own:
        raise InvalidInputError(
            "its local size is left to the driver, and its work-items must be grouped as they are: give a local "
            "size to have it tuned"
        )
    return others


def check_python() -> None:
    """Raise InvalidInputError where this process is no Python that can start another, but an application."""
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not ("python" in name or "pypy" in name):
        raise InvalidInputError(
            "this application can't start a Python process, in which variants could be measured"
        )
