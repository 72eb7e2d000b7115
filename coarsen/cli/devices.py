"""`coarsen devices`: the OpenCL devices, and what coarsen needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import typer

from coarsen.cli.declared import option, takes
from coarsen.cli.diagnosis import Finding, Need, diagnose
from coarsen.cli.messages import note
from coarsen.cli.options import format_option
from coarsen.cli.output import Format, print_json, print_line, print_records, print_table
from coarsen.errors import DeviceError, InvalidInputError

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.devices.health import Health


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


@dataclass(frozen=True, kw_only=True)
class DevicesOptions:
    """The options of `coarsen devices`."""

    check: bool | None = option(
        "Check everything that coarsen uses, and say how to mend what is missing; or run nothing.",
        None,
        "--check/--no-check",
        show_default=False,
    )
    output_format: Format = format_option()


@takes(DevicesOptions)
def devices(asked: DevicesOptions) -> None:
    """List the OpenCL devices, or check what coarsen needs.

    Each device runs a kernel, unless --no-check is given. Devices known by model only need not be there: their
    factors can be predicted, not measured. Exit code 4 if no device works.

    With --check, exit code 0 if everything is there that coarsening and running a kernel need, 4 if only what
    running needs is missing (PyOpenCL, a device that works), 2 if anything else is. What is optional (PyTorch, for
    training) does not count.

    Example: coarsen devices --check
    """
    if asked.check:
        _check(asked.output_format)
    else:
        _list(runs=asked.check is None, output_format=asked.output_format)


def _list(*, runs: bool, output_format: Format) -> None:
    """List the devices. Raises DeviceError where none works."""
    from coarsen.devices.discovery import discover
    from coarsen.devices.health import check_health

    discovery = discover()
    for line in discovery.notes:
        note(line)
    listed = [ListedDevice(found, check_health(found) if runs else None) for found in discovery.devices]
    if output_format is Format.JSON:
        print_json({"devices": [_as_data(device) for device in listed], "models": _by_model_only(listed)})
    else:
        _print(listed)
    _refuse_if_useless(listed)


def _refuse_if_useless(listed: list[ListedDevice]) -> None:
    from coarsen.devices.discovery import HOW_TO_GET_A_DEVICE

    if not listed:
        raise DeviceError(f"there is no OpenCL device on this machine; {HOW_TO_GET_A_DEVICE}")
    if all(device.health is not None and not device.health.works for device in listed):
        raise DeviceError(f"no OpenCL device works; {HOW_TO_GET_A_DEVICE}")


def _by_model_only(listed: list[ListedDevice]) -> dict[str, str]:
    """The devices that something can be predicted for and that are not here, each with what it is."""
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor

    found = [device.description for device in listed]
    here = {known_descriptor(device.name, device.platform_name) for device in found}
    return {known.name: known.full_name for known in DEVICE_DESCRIPTORS.values() if known not in here}


def _as_data(device: ListedDevice) -> object:
    health = None if device.health is None else asdict(device.health)
    return {**asdict(device.description), "health": health}


def _print(listed: list[ListedDevice]) -> None:
    if listed:
        print_records(listed, _COLUMNS, numbers=["units"])
        print_line()
    print_line("Known by model only:")
    print_table(["model", "device"], _by_model_only(listed).items())


_COLUMNS: Mapping[str, Callable[[ListedDevice], str]] = MappingProxyType(
    {
        "index": lambda each: each.description.index,
        "device": lambda each: each.description.name,
        "platform": lambda each: each.description.platform_name,
        "driver": lambda each: each.description.driver_version,
        "units": lambda each: str(each.description.compute_units),
        "works": lambda each: each.verdict,
    }
)


def _check(output_format: Format) -> None:
    """Show what coarsen uses, what is missing, and the command that mends it."""
    findings = list(diagnose())
    if output_format is Format.JSON:
        print_json([{**asdict(finding), "status": finding.status} for finding in findings])
    else:
        print_table(["part", "status", "details"], map(_finding_row, findings))
    verdict = verdict_of(findings)
    if verdict:
        raise typer.Exit(verdict)


def verdict_of(findings: Iterable[Finding]) -> int:
    """Return the exit code that findings call for: whatever coarsening needs counts before what running needs."""
    missing = {finding.need for finding in findings if not finding.is_there}
    if Need.TO_COARSEN in missing:
        return InvalidInputError.exit_code
    return DeviceError.exit_code if Need.TO_RUN in missing else 0


def _finding_row(finding: Finding) -> list[str]:
    details = finding.details if finding.is_there or not finding.mend else f"{finding.details}; {finding.mend}"
    return [finding.what, finding.status, details.removeprefix("; ")]
