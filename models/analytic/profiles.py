"""The profiles that are there: those that the user's calibrations wrote, and those that coarsen comes with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import DeviceProfile
from coarsen.models.analytic.profile_json import read_profile

SHIPPED = Path(__file__).parent / "data"
_NO_NAME = re.compile(r"[^a-z0-9]+")


def user_folder() -> Path:
    """Return the folder of the user's own profiles; it need not be there."""
    # Imported late: a machine that only measures may not have it.
    import platformdirs

    return platformdirs.user_data_path("coarsen") / "profiles"


def profile_name(device: str) -> str:
    """Return the name of a device's profile, and of its file: `NVIDIA H200` is `nvidia-h200`."""
    return _NO_NAME.sub("-", device.casefold()).strip("-") or "device"


def profile_files() -> Iterator[Path]:
    """Yield the files of all profiles, the user's first."""
    for folder in (user_folder(), SHIPPED):
        yield from sorted(folder.glob("*.json"))


def find_profile(name: str) -> DeviceProfile:
    """Return the profile of this name, or in the file of this path.

    The user's own before one that coarsen comes with.

    Raises:
        InvalidInputError: there is none, or it is damaged.
    """
    path = Path(name)
    if path.suffix == ".json":
        return read_profile(path)
    found = {file.stem: file for file in reversed(list(profile_files()))}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise InvalidInputError(
            f"there is no profile '{name}' (there are: {known}); 'coarsen devices --calibrate NAME' makes one"
        )
    return read_profile(found[name])


def shipped_profile(name: str) -> DeviceProfile | None:
    """Return the profile of this name that coarsen comes with, None where there is none.

    Raises InvalidInputError.
    """
    path = SHIPPED / f"{name}.json"
    return read_profile(path) if path.is_file() else None
