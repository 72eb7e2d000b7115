"""`coarsen devices`: the OpenCL devices, whether each really runs a kernel; devices known by model only."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.devices.discovery import HOW_TO_GET_A_DEVICE, DeviceDescription, discover
from coarsen.devices.health import Health, check_health
from coarsen.errors import DeviceError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor

NoCheck = Annotated[bool, typer.Option("--no-check", help="List the devices without running a kernel on each.")]


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device with the verdict on it, None where it wasn't checked."""

    description: DeviceDescription
    health: Health | None

    @property
    def verdict(self) -> str:
        """The verdict in words: yes, no and why, or not checked."""
        if self.health is None:
            return "not checked"
        return "yes" if self.health.works else f"no: {self.health.reason}"


def devices(no_check: NoCheck = False, output_format: OutputFormat = Format.TABLE) -> None:
    """List the OpenCL devices and whether each really runs a kernel.

    Devices known by model only need not be there: their factors can be predicted, not measured. Exit code 4
    if no device works.

    Example: coarsen devices --format json
    """
    discovery = discover()
    for line in discovery.notes:
        note(line)
    listed = [ListedDevice(found, None if no_check else check_health(found)) for found in discovery.devices]
    if output_format is Format.JSON:
        print_json({"devices": [_as_data(device) for device in listed], "models": _by_model_only(listed)})
    else:
        _print(listed)
    _refuse_if_useless(listed)


def _refuse_if_useless(listed: list[ListedDevice]) -> None:
    if not listed:
        raise DeviceError(f"there is no OpenCL device on this machine; {HOW_TO_GET_A_DEVICE}")
    if all(device.health is not None and not device.health.works for device in listed):
        raise DeviceError(f"no OpenCL device works; {HOW_TO_GET_A_DEVICE}")


def _by_model_only(listed: list[ListedDevice]) -> dict[str, str]:
    """The devices that something can be predicted for and that are not here, each with what it is."""
    found = [device.description for device in listed]
    here = {known_descriptor(device.name, device.platform_name) for device in found}
    return {known.name: known.full_name for known in DEVICE_DESCRIPTORS.values() if known not in here}


def _as_data(device: ListedDevice) -> object:
    health = None if device.health is None else asdict(device.health)
    return {**asdict(device.description), "health": health}


def _print(listed: list[ListedDevice]) -> None:
    if listed:
        headings = ["index", "device", "platform", "driver", "units", "works"]
        print_table(headings, map(_row, listed), numbers=["units"])
        print_line()
    print_line("Known by model only:")
    print_table(["model", "device"], _by_model_only(listed).items())


def _row(device: ListedDevice) -> list[str]:
    found = device.description
    units = str(found.compute_units)
    return [found.index, found.name, found.platform_name, found.driver_version, units, device.verdict]
