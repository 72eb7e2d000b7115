"""A device in numbers that models reckon with: bandwidths, latencies, rates, costs of launching.

Some were measured by micro-benchmarks (last in commit d7b9aeb5), others are their makers' figures: `Source` says
which.
Times are in seconds, sizes in bytes, rates and bandwidths a second. What is not known is None, or an empty curve.
"""

from __future__ import annotations

import bisect
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from coarsen.base.codec import decoded

# The classes of operations whose rate is measured.
FLOAT, DOUBLE, INTEGER, MULTIPLY, MATH, DIVISION = "float", "double", "integer", "multiply", "math", "division"
FLOAT_VECTOR = "float_vector"


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
        event: a launch's duration as its event tells.
        group: of one work-group, in seconds of the compute unit that runs it.
        item: of one more work-item in a group, in seconds of its compute unit.
        barrier: of a barrier with an access to local memory, whatever the size of the group.
        barrier_item: added to that by each work-item of the group.
    """

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

    kind: Literal["measured", "published"]
    date: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """A device in numbers.

    Args:
        name: by which commands and files call it.
        device: its name in OpenCL, and where it was measured.
        is_gpu: whether its type is GPU.
        source: of the numbers.
        compute_units: as OpenCL counts them.
        simd_width: lanes that execute together: a GPU's warp, a CPU's vector of `float`.
        local_memory: bytes for each work-group.
        sector_bytes: the least that a global access moves.
        registers_per_unit: words of all registers of a compute unit.
        items_per_unit: the most work-items that can be resident on a compute unit.
        groups_per_unit: the most work-groups that can be.
        local_memory_per_unit: bytes of a compute unit, shared by its work-groups.
        bandwidth: of reading, by footprint, of data that another compute unit read before.
        private_bandwidth: of reading, by footprint over all compute units, where each rereads its own share.
        latency: of a load that depends on the one before, by footprint.
        levels: of the memory, from the nearest on.
        cached_stride_cost: of a lane's access to data in a cache by the lanes' stride in `float`s, over that at 1.
        local_bandwidth: bytes per second of all compute units' local memory.
        local_stride_cost: of a lane's access to local memory by stride, over that at stride 1.
        rates: of operations, by class.
        launch: costs of starting work.
    """

    name: str
    device: str
    is_gpu: bool
    source: Source
    compute_units: int
    simd_width: int | None = None
    local_memory: int | None = None
    sector_bytes: int | None = None
    registers_per_unit: int | None = None
    items_per_unit: int | None = None
    groups_per_unit: int | None = None
    local_memory_per_unit: int | None = None
    bandwidth: Curve = ()
    private_bandwidth: Curve = ()
    latency: Curve = ()
    levels: tuple[MemoryLevel, ...] = ()
    cached_stride_cost: Curve = ()
    local_bandwidth: Quantity | None = None
    local_stride_cost: Curve = ()
    rates: Mapping[str, IssueRate] = field(default_factory=lambda: MappingProxyType({}))
    launch: LaunchCosts = field(default_factory=LaunchCosts)


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


SHIPPED = Path(__file__).parent / "data"


def shipped_profile(name: str) -> DeviceProfile | None:
    """Return the profile of this name that coarsen comes with, None where there is none.

    Raises InvalidInputError where its file is damaged.
    """
    path = SHIPPED / f"{name}.json"
    if not path.is_file():
        return None
    return decoded(DeviceProfile, json.loads(path.read_bytes()), str(path), has_defaults=True)
