"""The OpenCL devices that tests run on, and those that must be there."""

from __future__ import annotations

import functools
import os

from coarsen.devices.discovery import DeviceDescription, discover_devices
from coarsen.devices.health import check_health
from coarsen.devices.selection import newest_of_each_runtime

REQUIRED_VARIABLE = "COARSEN_REQUIRED_DEVICES"

# Devices get short names in test ids; one that none of these names keeps its own.
SHORT_NAMES = ("intel", "pocl", "oclgrind", "nvidia", "amd")


@functools.cache
def devices_that_work() -> tuple[DeviceDescription, ...]:
    """The healthy devices, without older versions of a runtime; checked once per process."""
    return tuple(newest_of_each_runtime([each for each in discover_devices() if check_health(each).works]))


def missing_devices() -> tuple[str, ...]:
    """The required devices that are not there or don't work."""
    required = [name.strip() for name in os.environ.get(REQUIRED_VARIABLE, "intel").split(",")]
    return tuple(
        name for name in required if name and not any(device.runs_on(name) for device in devices_that_work())
    )


def short_name(device: DeviceDescription | str) -> str:
    """What a device is called in a test's id."""
    if isinstance(device, str):
        return f"missing-{device}"
    return next((name for name in SHORT_NAMES if device.runs_on(name)), device.name)


def missing_message(names: tuple[str, ...]) -> str:
    seen = "; ".join(f"{device}: {check_health(device).reason or 'works'}" for device in discover_devices())
    return f"required OpenCL devices are missing or don't work: {', '.join(names)} (there are: {seen or 'none'})"
