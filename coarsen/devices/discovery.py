"""The OpenCL devices of this machine, as plain descriptions.

A description is data (it can be compared, stored with a measurement, sent to another process); `open_device`
gives its `pyopencl.Device`. A device that is listed is not yet a device that works: see
`coarsen.devices.health`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coarsen.errors import DeviceError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros, common_macros, device_macros

if TYPE_CHECKING:
    import pyopencl

    from coarsen.devices.drivers import LoaderSetup

_log = logging.getLogger("coarsen")

HOW_TO_GET_A_DEVICE = "pip install 'coarsen[cpu]' adds one that runs on any x86-64 CPU"


@dataclass(frozen=True, slots=True)
class DeviceDescription:
    """An OpenCL device.

    `index` is "platform:device", both counted from 0 in the order in which the loader lists them. Sizes of
    work-groups are in work-items, of memory in bytes. `il_version` is empty where the device takes no SPIR-V.
    `device_types` holds what it says it is, of {"cpu", "gpu", "accelerator", "custom"}. `version` and `extensions`
    are as it reports them, names with blanks between them; empty where that isn't known.
    """

    index: str
    vendor: str
    name: str
    driver_version: str
    platform_name: str
    platform_version: str
    opencl_c_version: str
    il_version: str
    device_types: tuple[str, ...]
    compute_units: int
    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_memory: int
    global_memory: int
    version: str = ""
    extensions: str = ""

    def __str__(self) -> str:
        return f"{self.index} {self.name} ({self.platform_name}, driver {self.driver_version})"

    @property
    def takes_spirv(self) -> bool:
        """Return True if programs may be given to it as SPIR-V."""
        return "SPIR-V" in self.il_version

    @property
    def macros(self) -> DeviceMacros:
        """Return the facts that a source may ask for about it; portable ones where its extensions aren't known."""
        return device_macros(self.extensions, self.version) if self.extensions else PORTABLE

    def is_called(self, part: str) -> bool:
        """Return True if a text is part of the device's name, or of its platform's name, vendor or version.

        The version counts because PoCL's platform is named "Portable Computing Language": only it says PoCL.

        Args:
            part: the text, in any case.
        """
        names = (self.name, self.platform_name, self.vendor, self.platform_version)
        return any(part.casefold() in name.casefold() for name in names)

    def runs_on(self, runtime: str) -> bool:
        """Return True if a text is part of its platform's name or version: PoCL on Intel's CPU isn't "intel".

        Args:
            runtime: the text, in any case.
        """
        return any(runtime.casefold() in name.casefold() for name in (self.platform_name, self.platform_version))

    def is_same_device(self, other: DeviceDescription) -> bool:
        """Return True if both describe one device, though the index may differ (in another process)."""
        return (self.name, self.platform_name, self.platform_version, self.driver_version) == (
            other.name,
            other.platform_name,
            other.platform_version,
            other.driver_version,
        )


class Discovery(NamedTuple):
    """All devices found, and notes (one line each) on drivers that are installed but did not appear."""

    devices: tuple[DeviceDescription, ...]
    notes: tuple[str, ...]


def discover_devices() -> tuple[DeviceDescription, ...]:
    """Return every OpenCL device that the system's and pip's drivers offer, in the loader's order.

    None is no error.
    """
    discovery = discover()
    for note in discovery.notes:
        _log.info(note)
    return discovery.devices


def discover() -> Discovery:
    """Return the devices of `discover_devices`, with notes on drivers that should have appeared and did not."""
    # Imported late, here and below: a program has its own devices.
    from coarsen.devices.drivers import prepare_loader

    setup = prepare_loader()
    descriptions = tuple(
        _describe(f"{platform_number}:{device_number}", platform, device)
        for platform_number, platform in enumerate(_platforms())
        for device_number, device in enumerate(_devices_of(platform))
    )
    return Discovery(descriptions, _notes(setup))


def describe_device(device: pyopencl.Device) -> DeviceDescription:
    """Return the description of a `pyopencl.Device`, one of a user's own context for example.

    A sub-device is described with its own properties, and with the index, platform and driver of the device that
    it is a part of.

    Raises DeviceError for a device that no platform lists.
    """
    listed = _undivided(device)
    for platform_number, platform in enumerate(_platforms()):
        if platform != listed.platform:
            # To ask it for its devices would start its driver.
            continue
        for device_number, candidate in enumerate(_devices_of(platform)):
            if candidate == listed:
                return _describe(f"{platform_number}:{device_number}", platform, device)
    raise DeviceError(f"no platform lists the device '{device.name.strip()}'")


def _undivided(device: pyopencl.Device) -> pyopencl.Device:
    """The device that a sub-device is a part of, however often it was divided; any other device itself."""
    import pyopencl

    try:
        parent: pyopencl.Device | None = device.parent_device
    except pyopencl.Error:  # a device of OpenCL 1.1 has no parts
        return device
    return device if parent is None else _undivided(parent)


def open_device(description: DeviceDescription) -> pyopencl.Device:
    """Return the `pyopencl.Device` of a description.

    Args:
        description: from `discover_devices` or `find_device`.

    Returns:
        The device, of which a `pyopencl.Context` can be made.

    Raises:
        DeviceError: this process has no such device (any more).
    """
    from coarsen.devices.drivers import prepare_loader

    prepare_loader()
    platform_number, device_number = (int(part) for part in description.index.split(":"))
    platforms = _platforms()
    if platform_number < len(platforms):
        devices = _devices_of(platforms[platform_number])
        if device_number < len(devices):
            return devices[device_number]
    raise DeviceError(f"there is no OpenCL device {description} any more")


def found_again(description: DeviceDescription) -> DeviceDescription:
    """Return the description of the same device in this process, where it may have another index.

    An index counts what the loader lists, and a program may not list the drivers that pip installed.

    Args:
        description: made by another process.

    Raises:
        DeviceError: this process has no such device.
    """
    same = [device for device in discover().devices if device.is_same_device(description)]
    if not same:
        raise DeviceError(f"there is no OpenCL device {description} in this process")
    return next((device for device in same if device.index == description.index), same[0])


def _platforms() -> list[pyopencl.Platform]:
    # Imported late: PyOpenCL is slow to import, and most commands of this package never touch a device.
    import pyopencl

    try:
        return list(pyopencl.get_platforms())
    except pyopencl.Error:
        # The loader raises this if there is no platform at all.
        return []


def _devices_of(platform: pyopencl.Platform) -> list[pyopencl.Device]:
    import pyopencl

    try:
        return list(platform.get_devices())
    except pyopencl.Error:
        # A GPU driver without its GPU: the platform is there, with CL_DEVICE_NOT_FOUND.
        return []


def _describe(index: str, platform: pyopencl.Platform, device: pyopencl.Device) -> DeviceDescription:
    return DeviceDescription(
        index=index,
        vendor=_text(device, "vendor"),
        name=_text(device, "name"),
        driver_version=_text(device, "driver_version"),
        platform_name=_text(platform, "name"),
        platform_version=_text(platform, "version"),
        opencl_c_version=_text(device, "opencl_c_version"),
        il_version=_text(device, "il_version"),
        device_types=device_types_of(device),
        compute_units=int(device.max_compute_units),
        max_work_group_size=int(device.max_work_group_size),
        max_work_item_sizes=tuple(int(size) for size in device.max_work_item_sizes),
        local_memory=int(device.local_mem_size),
        global_memory=int(device.global_mem_size),
        version=_text(device, "version"),
        extensions=" ".join(_text(device, "extensions").split()),
    )


def common_macros_of(devices: Iterable[pyopencl.Device]) -> DeviceMacros:
    """Return the facts that a source may ask for about whichever of some devices it is built for."""
    return common_macros([device_macros(_text(each, "extensions"), _text(each, "version")) for each in devices])


def _text(holder: pyopencl.Platform | pyopencl.Device, attribute: str) -> str:
    """A text property, stripped of blanks and NULs; empty where the device doesn't know it (older OpenCL)."""
    import pyopencl

    try:
        return str(getattr(holder, attribute)).strip(" \0\n\t")
    except (pyopencl.Error, AttributeError):
        return ""


def device_types_of(device: pyopencl.Device) -> tuple[str, ...]:
    """Return what a device says it is, of {"cpu", "gpu", "accelerator", "custom"}."""
    import pyopencl

    own = device.type
    return tuple(
        name
        for name in ("cpu", "gpu", "accelerator", "custom")
        if own & getattr(pyopencl.device_type, name.upper())
    )


def _notes(setup: LoaderSetup) -> tuple[str, ...]:
    from coarsen.devices.drivers import missing_drivers

    return tuple(
        f"the OpenCL driver {driver.library} (from {driver.origin}) did not load: it is broken, or "
        "PyOpenCL's platforms were queried before this package looked for drivers (discover devices first, or "
        "set OCL_ICD_VENDORS)"
        for driver in missing_drivers(setup)
    )
