"""The devices that something can be predicted for: those that are known by their figures, and those that are here.

"tahiti", "Tesla K20c"  ─▶ a known device, which need not be here
"0:1", "EPYC"           ─▶ an OpenCL device of this machine ─▶ the known one that it is, or what OpenCL tells
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.devices.health import check_health
from coarsen.devices.selection import find_device, names_of
from coarsen.errors import DeviceError
from coarsen.models.device_descriptors import (
    DEVICE_DESCRIPTORS,
    DeviceDescriptor,
    known_descriptor,
    unknown_descriptor,
)


@dataclass(frozen=True)
class Target:
    """A device that something is predicted for; `installed` is the OpenCL device where it was found as one."""

    descriptor: DeviceDescriptor
    installed: DeviceDescription | None = None

    def __str__(self) -> str:
        name, full_name = self.descriptor.name, self.descriptor.full_name
        return name if name == full_name else f"{name} ({full_name})"


def target_of(device: str) -> Target:
    """Return the device that is called so.

    Args:
        device: a name of `device_descriptors` in upper or lower case, a chip's name (`Tesla K20c`), or whatever
            names an OpenCL device of this machine (see `coarsen.devices.selection.find_device`).

    Raises:
        DeviceError: nothing is called so, or it is neither a CPU nor a GPU; the message lists the known devices.
    """
    wanted = device.strip()
    descriptor = DEVICE_DESCRIPTORS.get(wanted.casefold()) or known_descriptor(wanted)
    if descriptor is not None:
        return Target(descriptor)
    if not any(each.index == wanted or each.is_called(wanted) for each in discover_devices() if wanted):
        hint = did_you_mean(device, [*DEVICE_DESCRIPTORS, *names_of(discover_devices())])
        raise DeviceError(
            f"'{device}' is neither a known device nor an OpenCL device of this machine{hint}; "
            f"known: {', '.join(DEVICE_DESCRIPTORS)}"
        )
    return target_of_installed(find_device(wanted))


def target_of_installed(device: DeviceDescription) -> Target:
    """Return an OpenCL device of this machine; one that is not known gets the figures that OpenCL reports.

    Raises:
        DeviceError: it says that it is neither a CPU nor a GPU, or both.
    """
    return Target(known_descriptor(device.name, device.platform_name) or _told_by_opencl(device), device)


def installed_device(target: Target, name: str) -> DeviceDescription:
    """Return the OpenCL device of this machine on which something can be measured for a target.

    Args:
        target: a device, here or known by its figures only.
        name: what the user calls it.

    Raises:
        DeviceError: it isn't here, or doesn't work.
    """
    if target.installed is not None:
        return target.installed
    found = [
        device
        for device in discover_devices()
        if known_descriptor(device.name, device.platform_name) == target.descriptor
    ]
    working = [device for device in found if check_health(device).works]
    if working:
        return working[0]
    if found:
        raise DeviceError(f"{found[0]} does not work: {check_health(found[0]).reason}")
    here = ", ".join(str(device) for device in discover_devices()) or "none"
    raise DeviceError(
        f"{name} is known by model only, so nothing can be measured on it; OpenCL devices of this machine: {here}"
    )


def _told_by_opencl(device: DeviceDescription) -> DeviceDescriptor:
    kinds = {"cpu", "gpu"} & set(device.device_types)
    if len(kinds) != 1:
        raise DeviceError(f"the OpenCL device {device} does not say whether it is a CPU or a GPU")
    opened = open_device(device)
    return unknown_descriptor(
        device.name,
        is_gpu="gpu" in kinds,
        vendor=device.vendor,
        native_vector_width=int(opened.native_vector_width_float),
    )
