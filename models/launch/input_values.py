"""The values of the inputs, a group at a time; `inputs.py` has their names.

Logarithms are to base 2; of counts v they are log2(1 + v).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.cost.work_counts import AccessCount, InstructionClass
from coarsen.features.kernel_facts import DIVERGENCE_FACTS, KERNEL_FACTS, along
from coarsen.models.analytic.estimate import moved_bytes
from coarsen.models.launch.planning import PATTERNS, PLAN_COSTS, DescribedLaunch
from coarsen.variant.coarsening import DIMENSIONS, Level

# The parts of the analytic models' estimates.
PARTS = ("compute", "memory", "first-level cache", "local memory", "latency", "groups")
# Levels of the memory that a footprint is compared with.
LEVELS = 3
# Added to counts for each work-item, which may be 0.
_SMALL = 0.25
# Logarithms of ratios are cut here: a thousand times is as good as never.
_MOST = 10.0


@dataclass(frozen=True, slots=True)
class Pair:
    """A coarsened launch, and the uncoarsened one at the same local size."""

    before: DescribedLaunch
    after: DescribedLaunch


def configuration_values(pair: Pair) -> list[float]:
    """Return factors, stride and transforms."""
    factors = {level: [0.0] * DIMENSIONS for level in Level}
    stride = 0.0
    for coarsening in pair.after.variant.coarsenings:
        factors[coarsening.level][coarsening.dimension] = math.log2(coarsening.factor)
        stride = max(stride, math.log2(coarsening.stride))
    items, groups = factors[Level.ITEM], factors[Level.GROUP]
    is_wide = pair.after.variant.transforms.wide_accesses
    return [*items, *groups, sum(items), sum(groups), sum(items) + sum(groups), stride, float(is_wide)]


def work_values(pair: Pair) -> list[float]:
    """Return the change of work for each original work-item."""
    before, after = pair.before, pair.after
    whole = max(before.total, 1.0)
    changes = [(after.instructions[kind] - before.instructions[kind]) / whole for kind in InstructionClass]
    first, second = before.planned.work, after.planned.work
    return [
        _growth(before.total, after.total),
        *changes,
        _growth(before.outer_bytes, after.outer_bytes),
        _growth(first.chain_operations, second.chain_operations / after.merged),
        _growth(first.chain_accesses, second.chain_accesses / after.merged),
        _growth(first.barriers, second.barriers / after.merged),
        _growth(first.live_words, second.live_words),
        _log(second.live_words),
        _parallelism(after),
    ]


def patterns_values(pair: Pair) -> list[float]:
    """Return the patterns of access before and after."""
    return [*pair.before.patterns[: len(PATTERNS)], *pair.after.patterns]


def plan_values(pair: Pair) -> list[float]:
    """Return the costs of the plan."""
    return [_log(pair.after.planned.costs.get(name, 0.0)) for name in PLAN_COSTS]


def filling_values(pair: Pair) -> list[float]:
    """Return how the launch fills the device before and after."""
    sizes, width = pair.after.planned.sizes, pair.after.device.simd_width
    return [
        _ratio(pair.before.groups_per_unit),
        _ratio(pair.after.groups_per_unit),
        pair.before.idle_share,
        pair.after.idle_share,
        _ratio(sizes.items / (pair.after.device.compute_units * width)),
        _ratio(sizes.group_items),
        *(math.log2(extent) for extent in sizes.local_size),
        _ratio(sizes.local_size[0] / width),
        float(sizes.local_size[0] % width > 0),
    ]


def analytic_values(pair: Pair) -> list[float]:
    """Return what the analytic model says; 0 without a profile."""
    first, second = pair.before.estimate, pair.after.estimate
    if first is None or second is None:
        return [0.0] * (2 + 3 * len(PARTS))
    parts = [_part_growth(first.parts.get(name, 0.0), second.parts.get(name, 0.0)) for name in PARTS]
    return [1.0, _ratio(first.seconds / second.seconds), *parts, *_shares(pair.before), *_shares(pair.after)]


def _shares(launch: DescribedLaunch) -> list[float]:
    """Each part of an estimate over the whole of it."""
    estimate = launch.estimate
    if estimate is None or not estimate.seconds:
        return [0.0] * len(PARTS)
    return [min(2.0, estimate.parts.get(name, 0.0) / estimate.seconds) for name in PARTS]


def launch_values(launch: DescribedLaunch) -> list[float]:
    """Return the sizes of a launch on its device."""
    sizes, width = launch.planned.sizes, launch.device.simd_width
    return [
        *(math.log2(extent) for extent in sizes.local_size),
        _ratio(sizes.group_items),
        _ratio(launch.groups_per_unit),
        launch.idle_share,
        float(sizes.local_size[0] % width > 0),
    ]


def launch_analytic_values(launch: DescribedLaunch) -> list[float]:
    """Return the analytic model's time and its parts; 0 without a profile."""
    estimate = launch.estimate
    if estimate is None:
        return [0.0] * (2 + len(PARTS))
    # Relative to an item's share of the device, so that launches of any size compare.
    each = estimate.seconds / max(1, launch.planned.sizes.items)
    return [1.0, _ratio(each * 1e9), *_shares(launch)]


def kernel_values(launch: DescribedLaunch) -> list[float]:
    """Return what the kernel does."""
    work = launch.planned.work
    whole = max(launch.total, 1.0)
    return [
        _log(launch.total),
        *(launch.instructions[kind] / whole for kind in InstructionClass),
        launch.outer_bytes / whole,
        _log(work.barriers),
        _log(work.atomics),
        _log(work.local_bytes),
        _log(work.live_words),
        _parallelism(launch),
        _log(work.chain_accesses),
        float(len(work.unknown) > 0),
        *launch.patterns[: len(PATTERNS)],
    ]


def caches_values(launch: DescribedLaunch) -> list[float]:
    """Return whether the footprint is known, and it over each level of the memory, nearest first."""
    profile, footprint = launch.device.profile, launch.footprint
    levels = [level.bytes for level in profile.levels if level.bytes] if profile else []
    if footprint is None or not levels:
        return [0.0] * (1 + LEVELS)
    nearest = [*levels, *[levels[-1]] * LEVELS][:LEVELS]
    return [1.0, *(_ratio(footprint / level) for level in nearest)]


def device_values(launch: DescribedLaunch) -> list[float]:
    """Return the kind of the device."""
    return [float(launch.device.is_gpu), float(launch.device.vectorises)]


def _parallelism(launch: DescribedLaunch) -> float:
    work = launch.planned.work
    return _ratio(max(1.0, launch.total * launch.merged) / max(1.0, work.chain_operations))


def _growth(before: float, after: float) -> float:
    return _ratio((after + _SMALL) / (before + _SMALL))


def _part_growth(before: float, after: float) -> float:
    return _ratio(after / before) if before > 0.0 and after > 0.0 else 0.0


def _ratio(value: float) -> float:
    """log2 of a ratio, within bounds; 0 where it is none."""
    if not value > 0.0 or not math.isfinite(value):
        return 0.0
    return max(-_MOST, min(_MOST, math.log2(value)))


def _log(count: float) -> float:
    return math.log2(1.0 + max(0.0, count))


# The values of inputs that tell what vectors over work-items cost: gathers, scatters, masks, and scalar code.
#
# A group whose extent along dimension 0 fills a vector can run its work-items as lanes. Accesses that don't lie
# side by side are then gathered lane by lane, and branches that part are masked; a shorter group runs scalar code,
# in which OpenCL's own vector types are still vectors. What decides is not known: these are the costs of either.

# Gathering an element costs as much as so many vector operations: nobody knows how many.
_GATHER_COSTS = (1.0, 4.0, 16.0)
_WORD = 4
_LEAST_LOG = -12.0
_SMALL_RATIO = 0.1

GATHER_NAMES = (
    *("fills a vector before", "fills a vector after", "apart before", "apart after"),
    *("gathered before", "gathered after", "share gathered before", "share gathered after"),
    *(f"speed-up if a gather costs {int(cost)}" for cost in _GATHER_COSTS),
    *("scalar operations after", "masked before", "masked after", "growth of accesses apart"),
)


def gather_values(pair: Pair) -> list[float]:
    """Return what vectors over work-items cost before and after."""
    before, after = _Lanes.of(pair.before), _Lanes.of(pair.after)
    speedups = (_log_of_ratio(first / second) for first, second in zip(before.costs, after.costs, strict=True))
    return [
        *(float(each.fills) for each in (before, after)),
        *(math.log2(1.0 + each.apart) for each in (before, after)),
        *(math.log2(1.0 + each.gathered) for each in (before, after)),
        *(each.gathered / each.operations for each in (before, after)),
        *speedups,
        0.0 if after.fills else math.log2(1.0 + after.operations),
        *(each.masked for each in (before, after)),
        _log_of_ratio((after.apart + _SMALL_RATIO) / (before.apart + _SMALL_RATIO)),
    ]


@dataclass(frozen=True, slots=True)
class _Lanes:
    """A launch in numbers for each of the original's work-items.

    Attributes:
        fills: whether a group's extent along dimension 0 fills a vector.
        operations: instructions.
        apart: accessed elements that don't lie side by side; `gathered` those that a vector would gather.
        masked: the share of work that a vector would mask.
        costs: of operations and gathers together, by the cost of a gather.
    """

    fills: bool
    operations: float
    apart: float
    gathered: float
    masked: float
    costs: tuple[float, ...]

    @classmethod
    def of(cls, launch: DescribedLaunch) -> _Lanes:
        width, facts = launch.device.simd_width, launch.planned.facts
        fills = launch.planned.sizes.local_size[0] >= width
        operations = max(launch.total, 0.25)
        apart = _apart(launch)
        gathered = apart if fills else 0.0
        parting = sum(facts.get(along(f"divergent {kind} share", 0), 0.0) for kind in ("guard", "loop"))
        lanes = width if fills else max(1.0, facts.get("mean vector width", 1.0))
        costs = tuple(operations / lanes + gathered * cost for cost in _GATHER_COSTS)
        return cls(fills, operations, apart, gathered, parting if fills else 0.0, costs)


def _apart(launch: DescribedLaunch) -> float:
    """Elements that a lane's neighbour doesn't have beside it, of memory of any kind; vectors count one by one."""
    return (
        sum(
            access.count * max(1.0, access.bytes / _WORD)
            for access in launch.planned.work.accesses
            if access.lane_stride is None or abs(access.lane_stride) not in (0, _WORD)
        )
        / launch.merged
    )


def _log_of_ratio(ratio: float) -> float:
    return math.log2(max(ratio, 2.0**_LEAST_LOG))


# The values of inputs of a launch itself: its accesses, its time, vectors over its work-items, its kernel's code.
#
# Each is of one launch, or of a pair of them: `inputs.py` has the names. Logarithms are to base 2.

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
_LEAST, _MOST_LOG = -12.0, 24.0
_NANO = 1e9
_SMALL_TIME = 0.01


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
        _log_of_time(after / max(before, _SMALL_TIME)) if after > 0.0 else 0.0,
        _log_of_time(after),
        _log_of_time(count_after / max(count_before, _SMALL_TIME)) if count_after > 0.0 else 0.0,
    ]


def time_values(launch: DescribedLaunch) -> list[float]:
    """Return the analytic model's nanoseconds of a launch, and of one of its work-groups; 0 without a profile."""
    estimate = launch.estimate
    if estimate is None:
        return [0.0, 0.0]
    whole = estimate.seconds * _NANO
    return [_log_of_time(whole), _log_of_time(whole / max(1, launch.planned.sizes.groups))]


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
    return [max(_LEAST, min(_MOST_LOG, launch.planned.facts.get(name, 0.0))) for name in KERNEL_FACTS]


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


def _log_of_time(value: float) -> float:
    return max(_LEAST, min(_MOST_LOG, math.log2(max(value, 2.0**_LEAST))))
