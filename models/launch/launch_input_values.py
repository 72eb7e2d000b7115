"""The values of inputs of a launch itself: its accesses, its time, vectors over its work-items, its kernel's code.

Each is of one launch, or of a pair of them: `inputs.py` has the names. Logarithms are to base 2.
"""

from __future__ import annotations

import math

from coarsen.cost.work_counts import AccessCount
from coarsen.features.kernel_facts import DIVERGENCE_FACTS, KERNEL_FACTS, along
from coarsen.models.analytic.estimate import moved_bytes
from coarsen.models.launch.input_values import Pair
from coarsen.models.launch.planning import DescribedLaunch

ACCESS_NAMES = (
    *("mean bytes", "wide accesses", "stores", "accesses at loaded addresses", "mean stride"),
    *("single copies", "copies that touch", "copies in a line", "copies in a page", "copies far apart"),
    "strided stores",
)
VECTOR_NAMES = ("lanes used", "odd by 4", "odd by 8", "odd by 16", "rows")

# So many bytes at once are wide; the most that a line and a page have; an irregular stride counts as this many
# doublings of the access.
_WIDE, _LINE, _PAGE, _MOST_STRIDE = 16, 64, 4096, 7.0
_GPU_SECTOR = 32
# Logarithms are cut here.
_LEAST, _MOST = -12.0, 24.0
_NANO = 1e9
_SMALL = 0.01


def accesses_values(launch: DescribedLaunch) -> list[float]:
    """Return shares of the accesses to memory that all work-groups share, weighted by how often they are made."""
    total = sum(access.count for access in launch.outer) or 1.0
    found = [0.0] * len(ACCESS_NAMES)
    for access in launch.outer:
        weight = access.count / total
        far = access.lane_stride is None or abs(access.lane_stride) > access.bytes
        found[0] += weight * math.log2(max(1, access.bytes))
        found[1] += weight * (access.bytes >= _WIDE)
        found[2] += weight * access.store
        found[3] += weight * access.dependent_on_load
        found[4] += weight * _stride(access)
        found[5 + _copies(access)] += weight
        found[10] += weight * (access.store and far)
    return found


def accesses_change(pair: Pair) -> list[float]:
    """Return the growth of bytes moved for each original work-item, these bytes, and the growth of accesses."""
    before, after = _moved(pair.before), _moved(pair.after)
    count_before, count_after = _count(pair.before), _count(pair.after)
    return [
        _log(after / max(before, _SMALL)) if after > 0.0 else 0.0,
        _log(after),
        _log(count_after / max(count_before, _SMALL)) if count_after > 0.0 else 0.0,
    ]


def time_values(launch: DescribedLaunch) -> list[float]:
    """Return the analytic model's nanoseconds of a launch, and of one of its work-groups; 0 without a profile."""
    estimate = launch.estimate
    if estimate is None:
        return [0.0, 0.0]
    whole = estimate.seconds * _NANO
    return [_log(whole), _log(whole / max(1, launch.planned.sizes.groups))]


def vector_values(launch: DescribedLaunch) -> list[float]:
    """Return how a launch's work-items fill vectors along dimension 0, and its rows of work-items in a group."""
    first, second, third = launch.planned.sizes.local_size
    return [
        min(0.0, math.log2(first / launch.device.simd_width)),
        *(float(first % lanes > 0) for lanes in (4, 8, 16)),
        math.log2(second * third),
    ]


def divergence_values(pair: Pair) -> list[float]:
    """Return the divergence along the dimensions that are coarsened, weighted by the doublings along each."""
    coarsenings = pair.after.variant.coarsenings
    total = sum(math.log2(each.factor) for each in coarsenings) or 1.0
    return [
        sum(
            math.log2(each.factor) / total * pair.after.planned.facts.get(along(fact, each.dimension), 0.0)
            for each in coarsenings
        )
        for fact in DIVERGENCE_FACTS
    ]


def code_values(launch: DescribedLaunch) -> list[float]:
    """Return the facts of the kernel's text."""
    return [max(_LEAST, min(_MOST, launch.planned.facts.get(name, 0.0))) for name in KERNEL_FACTS]


def _stride(access: AccessCount) -> float:
    if access.lane_stride is None:
        return _MOST_STRIDE
    return min(_MOST_STRIDE, math.log2(1.0 + abs(access.lane_stride) / access.bytes))


def _copies(access: AccessCount) -> int:
    """Return how far the nearest copy of an access lies: 0 where there is none, up to 4."""
    if access.replica_stride is None:
        return 0
    return 1 + sum(access.replica_stride > most for most in (access.bytes, _LINE, _PAGE))


def _moved(launch: DescribedLaunch) -> float:
    profile = launch.device.profile
    sector = (profile.sector_bytes if profile else None) or (_GPU_SECTOR if launch.device.is_gpu else _LINE)
    lanes = launch.device.simd_width
    return sum(each.count * moved_bytes(each, lanes, sector) for each in launch.outer) / launch.merged


def _count(launch: DescribedLaunch) -> float:
    return sum(access.count for access in launch.outer) / launch.merged


def _log(value: float) -> float:
    return max(_LEAST, min(_MOST, math.log2(max(value, 2.0**_LEAST))))
