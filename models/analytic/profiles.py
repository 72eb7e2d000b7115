"""The profiles that are there: those that the user's calibrations wrote, and those that coarsen comes with."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args

from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import (
    Curve,
    DeviceProfile,
    IssueRate,
    LaunchCosts,
    MemoryLevel,
    Point,
    Quantity,
    Source,
    SourceKind,
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

Made = TypeVar("Made")
_TEXTS = ("name", "device", "vendor", "platform", "driver")
_COUNTS = (
    "simd_width",
    "local_memory",
    "sector_bytes",
    "registers_per_unit",
    "items_per_unit",
    "groups_per_unit",
    "local_memory_per_unit",
)
_CURVES = (
    "bandwidth",
    "private_bandwidth",
    "latency",
    "stride_cost",
    "cached_stride_cost",
    "local_stride_cost",
)
_LAUNCH = tuple(field.name for field in dataclasses.fields(LaunchCosts))


class _BadError(Exception):
    """Something that a profile can't hold; the message says where it stands and what is wanted."""


def profile_to_json(profile: DeviceProfile) -> dict[str, Any]:
    """Return a profile as JSON data; what is not known is left out."""
    content = {field.name: getattr(profile, field.name) for field in dataclasses.fields(profile)}
    return {"format": FORMAT, "version": VERSION, **cast("dict[str, Any]", _plain(content))}


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if each is not None and each != ()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


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
    try:
        return _profile({key: value for key, value in data.items() if key not in ("format", "version")})
    except _BadError as error:
        raise InvalidInputError(f"{origin}: the profile is damaged: {error}") from None


def _profile(data: Mapping[str, Any]) -> DeviceProfile:
    known = {field.name for field in dataclasses.fields(DeviceProfile)}
    _refuse_unknown("the profile", data, known)
    values: dict[str, Any] = {name: _text(data, name) for name in _TEXTS}
    values |= {name: _optional(data, name, _count) for name in _COUNTS}
    values |= {name: _curve(data.get(name, []), name) for name in _CURVES}
    return DeviceProfile(
        **values,
        is_gpu=_truth(data.get("is_gpu"), "is_gpu"),
        source=_source(data.get("source")),
        compute_units=_count(data.get("compute_units"), "compute_units"),
        clock=_optional(data, "clock", _positive),
        local_memory_is_dedicated=_optional(data, "local_memory_is_dedicated", _truth),
        levels=tuple(
            _level(each, f"levels[{place}]") for place, each in _listed(data.get("levels", []), "levels")
        ),
        local_bandwidth=_optional(data, "local_bandwidth", _quantity),
        rates=MappingProxyType({key: _rate(each, f"rates.{key}") for key, each in _object(data, "rates").items()}),
        launch=_launch(_object(data, "launch")),
    )


def _launch(data: Mapping[str, Any]) -> LaunchCosts:
    _refuse_unknown("launch", data, set(_LAUNCH))
    return LaunchCosts(**{name: _optional(data, name, _quantity) for name in _LAUNCH})


def _source(data: object) -> Source:
    values = _fields(data, "source", {"kind", "date", "text"})
    kind = values.get("kind")
    if kind not in get_args(SourceKind):
        raise _BadError(f"source.kind must be one of {', '.join(get_args(SourceKind))}, not {kind!r}")
    return Source(cast("SourceKind", kind), _text(values, "date"), _text(values, "text"))


def _rate(data: object, place: str) -> IssueRate:
    values = _fields(data, place, {"throughput", "latency", "by_chains"})
    return IssueRate(
        _quantity(values.get("throughput"), f"{place}.throughput"),
        _optional(values, "latency", _quantity),
        _curve(values.get("by_chains", []), f"{place}.by_chains"),
    )


def _level(data: object, place: str) -> MemoryLevel:
    values = _fields(data, place, {"bytes", "bandwidth", "latency"})
    bandwidth = _positive(values.get("bandwidth"), f"{place}.bandwidth")
    return MemoryLevel(_optional(values, "bytes", _positive), bandwidth, _optional(values, "latency", _positive))


def _quantity(data: object, place: str) -> Quantity:
    values = _fields(data, place, {"value", "spread"})
    return Quantity(
        _not_negative(values.get("value"), f"{place}.value"), _optional(values, "spread", _not_negative)
    )


def _curve(data: object, place: str) -> Curve:
    points = tuple(_point(each, f"{place}[{index}]") for index, each in _listed(data, place))
    if any(right.at <= left.at for left, right in itertools.pairwise(points)):
        raise _BadError(f"{place} must be in rising order of 'at'")
    return points


def _point(data: object, place: str) -> Point:
    values = _fields(data, place, {"at", "value", "spread"})
    at, value = (_positive(values.get(name), f"{place}.{name}") for name in ("at", "value"))
    return Point(at, value, _optional(values, "spread", _not_negative))


def _optional(data: Mapping[str, Any], name: str, read: Callable[[object, str], Made]) -> Made | None:
    return None if data.get(name) is None else read(data[name], name)


def _object(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise _BadError(f"{name} must be an object")
    return found


def _fields(data: object, place: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise _BadError(f"{place} must be an object")
    _refuse_unknown(place, data, known)
    return data


def _refuse_unknown(place: str, data: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(str(key) for key in data if key not in known)
    if unknown:
        raise _BadError(f"{place} has {unknown[0]!r}, which this version of coarsen does not know")


def _listed(data: object, place: str) -> Sequence[tuple[int, Any]]:
    if not isinstance(data, list):
        raise _BadError(f"{place} must be a list")
    return list(enumerate(data))


def _text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    if not isinstance(found, str):
        raise _BadError(f"{name} must be a text")
    return found


def _truth(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise _BadError(f"{place} must be true or false")
    return value


def _count(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _BadError(f"{place} must be a whole number of at least 1, not {value!r}")
    return value


def _positive(value: object, place: str) -> float:
    number = _not_negative(value, place)
    if not number:
        raise _BadError(f"{place} must be above 0")
    return number


def _not_negative(value: object, place: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= cast("float", value) < LARGEST_NUMBER:  # which NaN isn't either
        raise _BadError(f"{place} must be a number of at least 0, not {str(value)[:40]!r}")
    return float(cast("float", value))


# On a machine that does nothing else nearly all numbers spread by less.
UNSTEADY_SPREAD = 0.25
_BEARABLE_SHARE = 0.2


def busy_remark(profile: DeviceProfile) -> str | None:
    """Return one line about a calibration that other work disturbed.

    None where at most a fifth of its numbers spread.
    """
    spreads = list(_spreads(profile))
    unsteady = sum(spread > UNSTEADY_SPREAD for spread in spreads)
    if not spreads or unsteady <= _BEARABLE_SHARE * len(spreads):
        return None
    return (
        f"{unsteady} of {len(spreads)} numbers changed by more than {UNSTEADY_SPREAD:.0%} from run to run: "
        "something else used the device; calibrate again when nothing does"
    )


def _spreads(value: object) -> Iterator[float]:
    """The spreads of all measured numbers in a value."""
    if isinstance(value, Quantity | Point):
        if value.spread is not None:
            yield value.spread
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _spreads(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _spreads(tuple(value.values()))
    elif isinstance(value, tuple):
        for each in value:
            yield from _spreads(each)
