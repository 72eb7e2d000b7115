"""A device in numbers that models reckon with: bandwidths, latencies, rates, costs of launching.

`coarsen devices --calibrate` measures them; of devices that are not at hand some are known from their makers.
Times are in seconds, sizes in bytes, rates and bandwidths a second. What is not known is None, or an empty curve.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from coarsen.base.codec import decoded, encoded
from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.errors import InvalidInputError

# The classes of operations whose rate is measured.
FLOAT, DOUBLE, INTEGER, MULTIPLY, MATH, DIVISION = "float", "double", "integer", "multiply", "math", "division"
FLOAT_VECTOR = "float_vector"
OPERATIONS = (FLOAT, FLOAT_VECTOR, DOUBLE, INTEGER, MULTIPLY, DIVISION, MATH)

SourceKind = Literal["measured", "published"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its spread.

    Args:
        value: in the unit that the field's name or documentation says.
        spread: half the distance between the quartiles of what was measured, over the value; None where the
            number was not measured.
    """

    value: float
    spread: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve: where it is, the value there, and its spread as in `Quantity`."""

    at: float
    value: float
    spread: float | None = None


Curve = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """A level of the memory.

    Args:
        bandwidth: of the whole device, in bytes per second.
        latency: of a load that depends on the one before, in seconds; None where unknown.
        bytes: the largest footprint that it was seen to hold; None for the last one, the memory itself.
    """

    bandwidth: float
    latency: float | None = None
    bytes: float | None = None


@dataclass(frozen=True, slots=True)
class IssueRate:
    """The speed of a class of operations.

    Args:
        throughput: operations per second of the whole device, in work-items that have independent ones.
        latency: from an operation to one that depends on it, in seconds; None where unknown.
        by_chains: operations per second by the number of independent chains in a work-item.
    """

    throughput: Quantity
    latency: Quantity | None = None
    by_chains: Curve = ()


@dataclass(frozen=True, slots=True)
class LaunchCosts:
    """The costs of starting work.

    Args:
        gap: host time from one of many launches in a row to the next.
        round_trip: host time of one launch and of waiting for its end.
        event: a launch's duration as its event tells.
        group: of one work-group, in seconds of the compute unit that runs it.
        item: of one more work-item in a group, in seconds of its compute unit.
        barrier: of a barrier with an access to local memory, whatever the size of the group.
        barrier_item: added to that by each work-item of the group.
    """

    gap: Quantity | None = None
    round_trip: Quantity | None = None
    event: Quantity | None = None
    group: Quantity | None = None
    item: Quantity | None = None
    barrier: Quantity | None = None
    barrier_item: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a profile's numbers.

    Args:
        kind: whether they were measured or are what others published.
        date: of the day, as 2026-11-22.
        text: how and by what they were measured, or where they stand.
    """

    kind: SourceKind
    date: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """A device in numbers.

    Args:
        name: by which commands and files call it.
        device: its name in OpenCL.
        vendor: in OpenCL.
        platform: in OpenCL.
        driver: its version.
        is_gpu: whether its type is GPU.
        source: of the numbers.
        compute_units: as OpenCL counts them.
        simd_width: lanes that execute together: a GPU's warp, a CPU's vector of `float`.
        clock: in Hz.
        local_memory: bytes for each work-group.
        local_memory_is_dedicated: False where it is ordinary memory, as on CPUs.
        sector_bytes: the least that a global access moves.
        registers_per_unit: words of all registers of a compute unit.
        items_per_unit: the most work-items that can be resident on a compute unit.
        groups_per_unit: the most work-groups that can be.
        local_memory_per_unit: bytes of a compute unit, shared by its work-groups.
        bandwidth: of reading, by footprint, of data that another compute unit read before.
        private_bandwidth: of reading, by footprint over all compute units, where each rereads its own share.
        latency: of a load that depends on the one before, by footprint.
        levels: of the memory, from the nearest on.
        stride_cost: of a lane's access to memory by the lanes' stride in `float`s, over that at stride 1.
        cached_stride_cost: the same where all data is in a cache.
        local_bandwidth: bytes per second of all compute units' local memory.
        local_stride_cost: of a lane's access to local memory by stride, over that at stride 1.
        rates: of operations, by class (see `OPERATIONS`).
        launch: costs of starting work.
    """

    name: str
    device: str
    vendor: str
    platform: str
    driver: str
    is_gpu: bool
    source: Source
    compute_units: int
    simd_width: int | None = None
    clock: float | None = None
    local_memory: int | None = None
    local_memory_is_dedicated: bool | None = None
    sector_bytes: int | None = None
    registers_per_unit: int | None = None
    items_per_unit: int | None = None
    groups_per_unit: int | None = None
    local_memory_per_unit: int | None = None
    bandwidth: Curve = ()
    private_bandwidth: Curve = ()
    latency: Curve = ()
    levels: tuple[MemoryLevel, ...] = ()
    stride_cost: Curve = ()
    cached_stride_cost: Curve = ()
    local_bandwidth: Quantity | None = None
    local_stride_cost: Curve = ()
    rates: Mapping[str, IssueRate] = field(default_factory=lambda: MappingProxyType({}))
    launch: LaunchCosts = field(default_factory=LaunchCosts)

    def __str__(self) -> str:
        return f"{self.name} ({self.device}, {self.platform}, driver {self.driver})"


def interpolated(curve: Sequence[Point], at: float) -> float | None:
    """Return the value of a curve, linear between its points on logarithmic scales, constant beyond its ends.

    Args:
        curve: by rising `at`.
        at: above 0, or 0 for the first value.

    Returns:
        None where the curve has no point.
    """
    if not curve:
        return None
    places = [point.at for point in curve]
    index = bisect.bisect_left(places, at)
    if index == 0:
        return curve[0].value
    if index == len(curve):
        return curve[-1].value
    low, high = curve[index - 1], curve[index]
    share = math.log(at / low.at) / math.log(high.at / low.at)
    return float(low.value * (high.value / low.value) ** share)


# The profiles that are there: those that the user's calibrations wrote, and those that coarsen comes with.

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
