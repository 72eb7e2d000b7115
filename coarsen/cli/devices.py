"""`coarsen devices`: the OpenCL devices, what coarsen needs, and what a device's operations cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import typer

from coarsen.cli.declared import option, takes
from coarsen.cli.diagnosis import Finding, Need, diagnose
from coarsen.cli.messages import note
from coarsen.cli.options import format_option
from coarsen.cli.output import Format, print_json, print_line, print_records, print_table
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.analytic.machine import DeviceProfile, MemoryLevel, Quantity

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
    calibrate: str | None = option("Measure what the device's memory, operations and launches cost.", "NAME|INDEX")
    profile: str | None = option("Show what was measured so, and measure nothing.", "NAME|FILE")
    output: Path | None = option(
        "With --calibrate: where that goes.  [default: a file in the user's data folder]", "FILE", "-o --output"
    )
    output_format: Format = format_option()


@takes(DevicesOptions)
def devices(asked: DevicesOptions) -> None:
    """List the OpenCL devices; check what coarsen needs; calibrate a device.

    Each device runs a kernel, unless --no-check is given. Devices known by model only need not be there: their
    factors can be predicted, not measured. Exit code 4 if no device works.

    With --check, exit code 0 if everything is there that coarsening and running a kernel need, 4 if only what
    running needs is missing (PyOpenCL, a device that works), 2 if anything else is. What is optional (PyTorch, for
    training) does not count.

    --calibrate takes ten to thirty seconds on a machine that does nothing else. Where other work disturbs it, so
    that more than a fifth of the numbers are noise, nothing is stored unless -o names a file. Where only PyOpenCL
    and NumPy are installed, python -m coarsen.opencl_bench.calibration does the same.

    Example: coarsen devices --check

    Example: coarsen devices --calibrate pocl
    """
    wanted = {
        "--check": asked.check is not None,
        "--calibrate": asked.calibrate is not None,
        "--profile": asked.profile is not None,
    }
    given = [name for name, is_given in wanted.items() if is_given]
    if len(given) > 1:
        raise InvalidInputError(f"give one of {' and '.join(given)}")
    if asked.output is not None and asked.calibrate is None:
        raise InvalidInputError("--output goes with --calibrate")
    if asked.calibrate is not None:
        _print_profile(_calibrated(asked.calibrate, asked.output), asked.output_format)
    elif asked.profile is not None:
        from coarsen.models.analytic.machine import find_profile

        _print_profile(find_profile(asked.profile), asked.output_format)
    elif asked.check:
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


def _calibrated(spec: str, output: Path | None) -> DeviceProfile:
    # Imported late: PyOpenCL is slow to import.
    from coarsen.devices.selection import find_device
    from coarsen.models.analytic.machine import busy_remark, profile_name, write_profile
    from coarsen.opencl_bench.calibration.calibrate import calibrate as measured
    from coarsen.tuning.processes.device_lock import device_lock

    found = find_device(spec)
    path = output or _own_file(profile_name(spec))
    with device_lock(found):
        profile = measured(found, path.stem, progress=lambda what: note(f"measuring {what}"))
    remark = busy_remark(profile)
    if remark is not None and output is None:
        # It would go before the profile of the package.
        raise DeviceError(f"nothing is stored: {remark}, or name a file by -o")
    write_profile(profile, path)
    note(f"the profile is in {path}")
    if remark is not None:
        note(remark)
    return profile


def _own_file(name: str) -> Path:
    """The file of a profile in the user's folder, which is made."""
    from coarsen.models.analytic.machine import user_folder

    folder = user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"the folder {folder} can't be made: {error.strerror}; name a file with -o"
        ) from None
    return folder / f"{name}.json"


def _print_profile(profile: DeviceProfile, output_format: Format) -> None:
    if output_format is Format.JSON:
        from coarsen.models.analytic.machine import profile_to_json

        print_json(profile_to_json(profile))
        return

    print_line(str(profile))
    print_profile(profile)


# A device's profile as tables: what it is, its memory, its operations, what starting work costs.

_UNKNOWN = "–"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_LAUNCH = {
    "gap": "from a launch to the next, many in a row",
    "round_trip": "a launch and the wait for its end",
    "event": "a launch, as its event tells",
    "group": "a work-group, on its compute unit",
    "item": "a work-item, on its compute unit",
    "barrier": "a barrier",
    "barrier_item": "a barrier, for each work-item of the group",
}


def print_profile(profile: DeviceProfile) -> None:
    """Print a profile without its curves, which JSON has; ± is half the distance of the quartiles."""
    print_line(f"{profile.source.kind} on {profile.source.date}: {profile.source.text}")
    print_line()
    print_table(["device", ""], _described(profile))
    print_line()
    print_table(["memory level", "bandwidth", "latency"], map(_level_row, profile.levels), numbers=["bandwidth"])
    print_line()
    print_table(["operations, and starting work", "", "±"], _quantities(profile), numbers=["", "±"])


def scaled(value: float | None, unit: str) -> str:
    """Return a number with three digits and the prefix that suits it: `1.23 GB/s`."""
    if value is None:
        return _UNKNOWN
    size, prefix = next(((size, prefix) for size, prefix in _PREFIXES if value >= size), _PREFIXES[-1])
    return f"{value / size:.3g} {prefix}{unit}".rstrip()


def _byte_text(count: float | None) -> str:
    if count is None:
        return _UNKNOWN
    size, unit = next((size, unit) for size, unit in _BYTES if count >= size or size == 1)
    return f"{count / size:.4g} {unit}"


def _described(profile: DeviceProfile) -> Iterator[list[str]]:
    yield ["compute units", str(profile.compute_units)]
    yield ["lanes together", str(profile.simd_width or _UNKNOWN)]
    yield ["clock", scaled(profile.clock, "Hz")]
    dedicated = {True: "its own", False: "ordinary memory", None: _UNKNOWN}[profile.local_memory_is_dedicated]
    yield ["local memory", f"{_byte_text(profile.local_memory)}, {dedicated}"]
    bandwidth = profile.local_bandwidth
    yield ["local bandwidth", scaled(bandwidth.value if bandwidth else None, "B/s")]


def _level_row(level: MemoryLevel) -> list[str]:
    size = "memory" if level.bytes is None else f"up to {_byte_text(level.bytes)}"
    return [size, scaled(level.bandwidth, "B/s"), scaled(level.latency, "s")]


def _quantities(profile: DeviceProfile) -> Iterator[list[str]]:
    for name, rate in profile.rates.items():
        words = name.replace("_", " ")
        yield _quantity(f"{words}, a second", rate.throughput, "")
        yield _quantity(f"{words}, latency", rate.latency, "s")
    for name, meaning in _LAUNCH.items():
        yield _quantity(meaning, getattr(profile.launch, name), "s")


def _quantity(words: str, quantity: Quantity | None, unit: str) -> list[str]:
    if quantity is None:
        return [words, _UNKNOWN, _UNKNOWN]
    return [words, scaled(quantity.value, unit), _UNKNOWN if quantity.spread is None else f"{quantity.spread:.0%}"]
