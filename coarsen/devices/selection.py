"""Finding a device by what a person calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import HOW_TO_GET_A_DEVICE, DeviceDescription, discover_devices
from coarsen.devices.health import check_health
from coarsen.errors import DeviceError

# Oclgrind interprets kernels to find their faults, a thousand times slower than a device.
SIMULATOR = "oclgrind"


def find_device(spec: str) -> DeviceDescription:
    """Return the device that is called so.

    Upper and lower case are alike. A full name wins over a part of another's, a runtime's name over a processor's
    ("intel" is Intel's runtime, not PoCL on an Intel processor), of several versions of one runtime the newest.
    Where several devices match and only one of them works, it is that one.

    Args:
        spec: an index (`0:1`), or any part of the device's OpenCL name or its platform's, vendor or version.

    Returns:
        Its description, which `open_device` takes.

    Raises:
        DeviceError: several match (they are listed), none does (all devices are listed), or there is no device at
            all (with the command that gets one).
    """
    return select_device(spec, discover_devices(), lambda device: check_health(device).works)


def find_working_device() -> DeviceDescription:
    """Return the first device that works, a simulator only where there is no other.

    Raises DeviceError with the reasons where none does.
    """
    devices = discover_devices()
    if not devices:
        raise DeviceError(_none_at_all())
    for device in sorted(devices, key=lambda device: device.is_called(SIMULATOR)):
        if check_health(device).works:
            return device
    reasons = "; ".join(f"{device.index} {device.name}: {check_health(device).reason}" for device in devices)
    raise DeviceError(f"no OpenCL device works ({reasons}); {HOW_TO_GET_A_DEVICE}")


def select_device(
    spec: str, devices: Sequence[DeviceDescription], works: Callable[[DeviceDescription], bool]
) -> DeviceDescription:
    """`find_device` among given devices; `works` is asked only where several match."""
    if not devices:
        raise DeviceError(_none_at_all())
    matches = _matches(spec.strip(), devices)
    if not matches:
        hint = did_you_mean(spec, names_of(devices))
        raise DeviceError(f"no OpenCL device is called '{spec}'{hint}; there are: {_listed(devices)}")
    if len(matches) == 1:
        return matches[0]
    working = newest_of_each_runtime([device for device in matches if works(device)])
    if len(working) == 1:
        return working[0]
    raise DeviceError(
        f"'{spec}' names several OpenCL devices: {_listed(matches)}; give an index or more of the name"
    )


def newest_of_each_runtime(devices: Sequence[DeviceDescription]) -> list[DeviceDescription]:
    """Return the devices without those of a runtime that is there in a newer version, too.

    PoCL of the system and PoCL of a wheel are such: both run on the one processor.
    """
    newest: dict[str, tuple[int, ...]] = {}
    for device in devices:
        name = device.platform_name
        newest[name] = max(newest.get(name, ()), _version(device))
    return [device for device in devices if _version(device) == newest[device.platform_name]]


def names_of(devices: Sequence[DeviceDescription]) -> list[str]:
    """Return what devices can be called: their names and platforms' names, and the words of all that they say."""
    texts = [
        text
        for device in devices
        # What PoCL was built with comes after two blanks.
        for text in (device.name, device.platform_name, device.vendor, device.platform_version.partition("  ")[0])
    ]
    words = (word for text in texts for word in re.findall(r"[A-Za-z]\w{2,}", text))
    return [*texts, *words]


def _matches(spec: str, devices: Sequence[DeviceDescription]) -> list[DeviceDescription]:
    if re.fullmatch(r"\d+:\d+", spec):
        return [device for device in devices if device.index == spec]
    wanted = spec.casefold()
    if not wanted:
        return []
    exact = [device for device in devices if device.name.casefold() == wanted]
    of_the_runtime = [device for device in devices if device.runs_on(wanted)]
    return exact or of_the_runtime or [device for device in devices if device.is_called(wanted)]


def _version(device: DeviceDescription) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", device.driver_version))


def _listed(devices: Sequence[DeviceDescription]) -> str:
    return ", ".join(str(device) for device in devices)


def _none_at_all() -> str:
    return f"there is no OpenCL device on this machine; {HOW_TO_GET_A_DEVICE}"
