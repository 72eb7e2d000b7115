"""Tuning of a captured launch, in a temporary folder: what a program would launch is measured apart from it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.sweep.device_lock import device_lock_within
from coarsen.opencl_bench.sweep.points import limits_of
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.launch_space import launch_space, other_local_sizes
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.opencl_bench.tuning.tuner import LaunchToTune, tune_launch
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.captured import CapturedLaunch, write_capture
from coarsen.variant.transforms import Transforms

# A captured launch has one size, whatever the preset.
_PRESET = "test"


def tune_captured(
    launch: CapturedLaunch,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    deadline: Deadline,
) -> Tuned:
    """Find the fastest variant of a captured launch.

    Args:
        launch: what was captured.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        deadline: when it has to be over.

    Raises:
        DeviceError: the device can't be opened a second time, or is measured on by others all the while.
        VerificationError: the launch does not give the same results twice.
        InvalidInputError: the launch can't be described, or no process can be started for it.
        RefusalError: the kernel can't be coarsened at all.
    """
    check_python()
    others: tuple[LocalSize, ...] = ()
    if settings.local_sizes and not groups_matter:
        others = other_local_sizes(launch.global_size, launch.local_size, limits_of(device))
    space = launch_space(launch.local_size, others, transforms, settings)
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        description = write_capture(launch, Path(folder), "launch")
        described = LaunchToTune(str(description), _PRESET, device, transforms)
        with device_lock_within(device, deadline.left) as is_held:
            if not is_held:
                raise DeviceError(f"another process measures on {device.name}")
            return tune_launch(described, space, settings, deadline)


def check_python() -> None:
    """Raise InvalidInputError where this process is no Python that can start another, but an application."""
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not ("python" in name or "pypy" in name):
        raise InvalidInputError(
            "this application can't start a Python process, in which variants could be measured"
        )
