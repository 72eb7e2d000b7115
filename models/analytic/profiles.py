"""The profiles that are there: those that the user's calibrations wrote, and those that coarsen comes with."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import (
    DeviceProfile,
    Point,
    Quantity,
)

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


# A device's profile as JSON, and back; what can't be right is refused with the place where it stands.

FORMAT = "coarsen device profile"
VERSION = 1
LARGEST_FILE = 4 * MEBIBYTE
LARGEST_NUMBER = 1e30


def profile_to_json(profile: DeviceProfile) -> dict[str, Any]:
    """Return a profile as JSON data; what is not known is left out."""
    return {"format": FORMAT, "version": VERSION, **_known(encoded(profile))}


def _known(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items() if each not in (None, [])}
    return [_known(each) for each in value] if isinstance(value, list) else value


def write_profile(profile: DeviceProfile, path: Path) -> None:
    """Write a profile in one step. Raises InvalidInputError where the file can't be written."""
    text = json.dumps(profile_to_json(profile), indent=2, ensure_ascii=False, allow_nan=False)
    replace_file(f"{text}\n".encode(), path)


def read_profile(path: Path) -> DeviceProfile:
    """Read a profile. Raises InvalidInputError, in one line, for a file that is none or is damaged."""
    try:
        data = json.loads(read_file(path, LARGEST_FILE))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: this is no device profile: it is not JSON ({error})") from None
    return profile_from_json(data, str(path))


def profile_from_json(data: object, origin: str) -> DeviceProfile:
    """Return the profile that JSON data describe.

    Args:
        data: from `profile_to_json`.
        origin: named in messages.

    Raises:
        InvalidInputError: it isn't one, or is of another version of the format.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InvalidInputError(
            f"{origin}: this is no device profile: write one with 'coarsen devices --calibrate NAME'"
        )
    if data.get("version") != VERSION:
        raise InvalidInputError(
            f"{origin}: it is a profile of format {data.get('version')!r}, and this is a coarsen for {VERSION}; "
            "calibrate the device again"
        )
    given = {key: value for key, value in data.items() if key not in ("format", "version")}
    try:
        profile = decoded(DeviceProfile, given, "the profile", has_defaults=True)
        _check_numbers(profile)
    except (InvalidInputError, OverflowError) as error:
        raise InvalidInputError(f"{origin}: the profile is damaged: {error}") from None
    return profile


def _nested(value: object, place: str = "", holder: object = None) -> Iterator[tuple[object, str, object]]:
    """Yield a value and all that is in it, each with the place where it stands and what holds it."""
    yield value, place.removeprefix("."), holder
    inner: Iterable[tuple[str, object]] = ()
    if dataclasses.is_dataclass(value):
        inner = ((f".{each.name}", getattr(value, each.name)) for each in dataclasses.fields(value))
    elif isinstance(value, Mapping):
        inner = ((f".{name}", each) for name, each in value.items())
    elif isinstance(value, tuple):
        inner = ((f"[{index}]", each) for index, each in enumerate(value))
    for name, each in inner:
        yield from _nested(each, f"{place}{name}", value)


def _check_numbers(profile: DeviceProfile) -> None:
    """Raise InvalidInputError for a number that can't be, and for a curve that does not rise."""
    for value, place, holder in _nested(profile):
        if isinstance(value, int | float) and not isinstance(value, bool):
            may_be_zero = isinstance(holder, Quantity) or place.endswith(".spread")
            if not (0 <= value < LARGEST_NUMBER and (value or may_be_zero)):
                least = "a number of at least 0" if may_be_zero else "above 0"
                raise InvalidInputError(f"{place} must be {least}, not {value}")
        points = [each.at for each in value if isinstance(each, Point)] if isinstance(value, tuple) else []
        if any(right <= left for left, right in itertools.pairwise(points)):
            raise InvalidInputError(f"{place} must be in rising order of 'at'")


# On a machine that does nothing else nearly all numbers spread by less.
UNSTEADY_SPREAD = 0.25
_BEARABLE_SHARE = 0.2


def busy_remark(profile: DeviceProfile) -> str | None:
    """Return one line about a calibration that other work disturbed.

    None where at most a fifth of its numbers spread.
    """
    measured = (value for value, _, _ in _nested(profile) if isinstance(value, Quantity | Point))
    spreads = [each.spread for each in measured if each.spread is not None]
    unsteady = sum(spread > UNSTEADY_SPREAD for spread in spreads)
    if not spreads or unsteady <= _BEARABLE_SHARE * len(spreads):
        return None
    return (
        f"{unsteady} of {len(spreads)} numbers changed by more than {UNSTEADY_SPREAD:.0%} from run to run: "
        "something else used the device; calibrate again when nothing does"
    )
