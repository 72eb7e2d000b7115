"""`coarsen calibrate`: a device's bandwidths, latencies, rates and launch costs, measured and kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json, print_line
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.analytic.profiles import (
    busy_remark,
    find_profile,
    profile_name,
    profile_to_json,
    user_folder,
    write_profile,
)

if TYPE_CHECKING:
    from coarsen.models.analytic.machine import DeviceProfile

Device = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME|INDEX",
        help="Part of its OpenCL name, or its index; the first if left out.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The profile.  [default: a file in the user's data folder]"
    ),
]
Show = Annotated[
    str | None,
    typer.Option("--show", metavar="NAME|FILE", help="Show a profile that is there, and measure nothing."),
]


def calibrate(
    device: Device = None, output: Output = None, show: Show = None, output_format: OutputFormat = Format.TABLE
) -> None:
    """Measure what a device's memory, operations and launches cost, for the analytic models.

    Takes ten to thirty seconds on a machine that does nothing else. Where other work disturbs it, so that more
    than a fifth of the numbers are noise, nothing is stored unless -o names a file. Where only PyOpenCL and NumPy
    are installed, python -m coarsen.opencl_bench.calibration does the same.

    Example: coarsen calibrate --device pocl
    """
    if show is None:
        _print(_calibrated(device, output), output_format)
    elif device is not None or output is not None:
        raise InvalidInputError("--show measures nothing: leave out --device and --output")
    else:
        _print(find_profile(show), output_format)


def _calibrated(spec: str | None, output: Path | None) -> DeviceProfile:
    # Imported late: PyOpenCL is slow to import.
    from coarsen.devices.selection import find_device, find_working_device
    from coarsen.opencl_bench.calibration.calibrate import calibrate as measured
    from coarsen.opencl_bench.sweep.device_lock import device_lock

    found = find_device(spec) if spec is not None else find_working_device()
    path = output or _own_file(profile_name(spec or found.name))
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
    folder = user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"the folder {folder} can't be made: {error.strerror}; name a file with -o"
        ) from None
    return folder / f"{name}.json"


def _print(profile: DeviceProfile, output_format: Format) -> None:
    if output_format is Format.JSON:
        print_json(profile_to_json(profile))
        return
    from coarsen.cli.calibrate_report import print_profile

    print_line(str(profile))
    print_profile(profile)
