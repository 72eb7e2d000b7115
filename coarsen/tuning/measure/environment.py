"""The environment that is stored with a measurement: the device, its driver, the versions that made the code."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.records.code import Form
from coarsen.tuning.records.measurement import Environment

PACKAGES = ("coarsen", "llvmlite", "pyopencl")
Versions = tuple[tuple[str, str], ...]


def environment_of(device: DeviceDescription, form: Form, versions: Versions | None = None) -> Environment:
    """Return the environment of measurements on an OpenCL device of this machine.

    Args:
        device: the device.
        form: of the code that it is given.
        versions: names and versions of what made the code and runs it; those of this installation if None.
    """
    return Environment(
        vendor=device.vendor,
        device=device.name,
        driver_version=device.driver_version,
        platform=device.platform_name,
        platform_version=device.platform_version,
        compute_units=device.compute_units,
        device_types=device.device_types,
        form=form,
        versions=installed_versions(PACKAGES) if versions is None else versions,
    )


def installed_versions(packages: Iterable[str]) -> Versions:
    """Return the installed versions of some packages, by name."""
    return tuple((package, version(package)) for package in packages)
