"""The inputs that the trees see of a launch: their names, each beside what gives its value.

    before, after ─▶ configuration, change of work, patterns of access, plan, filling of the device, analytic model
    uncoarsened   ─▶ the kernel, the launch, and how it lies among the local sizes that are compared

All is relative: to the uncoarsened launch, to a total, to the device. Of the device nothing enters but its kind,
and what its profile makes of a launch. Counts v go in as log2(1 + v), ratios as log2; what isn't known is 0, with
a flag. Inputs are rounded to half precision, so that thresholds between them can be stored in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from coarsen.cost.work_counts import AccessCount, InstructionClass
from coarsen.features.kernel_facts import DIVERGENCE_FACTS, KERNEL_FACTS, along
from coarsen.models.analytic.estimate import moved_bytes
from coarsen.models.flat_forest import Array, Rows, in_half_precision
from coarsen.models.launch.planning import PATTERNS, PLAN_COSTS, DescribedLaunch
from coarsen.variant.coarsening import DIMENSIONS, Level

# The parts of the analytic models' estimates.
PARTS = ("compute", "memory", "first-level cache", "local memory", "latency", "groups")
# Levels of the memory that a footprint is compared with.
LEVELS = 3
# Added to counts for each work-item, which may be 0.
_SMALL = 0.25
_SMALL_RATIO = 0.1
_SMALL_TIME = 0.01
# Logarithms of ratios are cut here: a thousand times is as good as never.
_MOST = 10.0
# Other logarithms are cut here.
_LEAST, _MOST_LOG = -12.0, 24.0
# So many bytes at once are wide; the most that a line and a page have; an irregular stride counts as this many
# doublings of the access.
_WIDE, _LINE, _PAGE, _MOST_STRIDE = 16, 64, 4096, 7.0
_GPU_SECTOR, _WORD = 32, 4
# Gathering an element costs as much as so many vector operations: nobody knows how many.
_GATHER_COSTS = (1.0, 4.0, 16.0)
_CLASSES = tuple(kind.value for kind in InstructionClass)
_EXTENTS = tuple(f"local extent {dimension}" for dimension in range(DIMENSIONS))

_Subject = TypeVar("_Subject")
_Values = Callable[[_Subject], Sequence[float]]


class Pair(NamedTuple):
    """A coarsened launch, and the uncoarsened one at the same local size."""

    before: DescribedLaunch
    after: DescribedLaunch


@dataclass(frozen=True, slots=True)
class InputGroup(Generic[_Subject]):
    """Inputs that belong together, and can be left out together.

    Attributes:
        name: of the group.
        names: of its inputs.
        values: gives as many numbers.
    """

    name: str
    names: tuple[str, ...]
    values: _Values[_Subject]


def _group(name: str, *names: str) -> Callable[[_Values[_Subject]], InputGroup[_Subject]]:
    """Return what makes a group of the function that gives its values."""
    return lambda values: InputGroup(name, names, values)


def _side(group: InputGroup[DescribedLaunch], side: str, suffix: str | None = None) -> InputGroup[Pair]:
    names = tuple(f"{name}{f' {side}' if suffix is None else suffix}" for name in group.names)

    def values(pair: Pair) -> Sequence[float]:
        launch: DescribedLaunch = getattr(pair, side)
        # Many coarsened launches have one uncoarsened one before them.
        if group.values not in launch.values:
            launch.values[group.values] = group.values(launch)
        return launch.values[group.values]

    return InputGroup(group.name, names, values)


# Of the kernel, whatever its launch.


@_group(
    "kernel",
    "work",
    *(f"share of {kind}" for kind in _CLASSES),
    *("bytes for each instruction", "barriers", "atomics", "local memory", "live words", "parallelism"),
    *("dependent accesses", "something unknown"),
    *(f"{pattern} accesses" for pattern in PATTERNS),
)
def _kernel(launch: DescribedLaunch) -> list[float]:
    work, whole = launch.planned.work, max(launch.total, 1.0)
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


@_group("caches", "footprint is known", *(f"footprint over level {n + 1}" for n in range(LEVELS)))
def _caches(launch: DescribedLaunch) -> list[float]:
    """The footprint over each level of the memory, nearest first."""
    profile, footprint = launch.device.profile, launch.footprint
    levels = [level.bytes for level in profile.levels if level.bytes] if profile else []
    if footprint is None or not levels:
        return [0.0] * (1 + LEVELS)
    nearest = [*levels, *[levels[-1]] * LEVELS][:LEVELS]
    return [1.0, *(_ratio(footprint / level) for level in nearest)]


@_group("device", "is GPU", "vectorises work-items")
def _device(launch: DescribedLaunch) -> list[float]:
    return [float(launch.device.is_gpu), float(launch.device.vectorises)]


@_group("code", *KERNEL_FACTS)
def _code(launch: DescribedLaunch) -> list[float]:
    return [max(_LEAST, min(_MOST_LOG, launch.planned.facts.get(name, 0.0))) for name in KERNEL_FACTS]


# Of a launch.


@_group("launch", *_EXTENTS, "group size", "groups for each unit", "idle share", "lanes left over")
def _launch(launch: DescribedLaunch) -> list[float]:
    sizes, width = launch.planned.sizes, launch.device.simd_width
    return [
        *(math.log2(extent) for extent in sizes.local_size),
        _ratio(sizes.group_items),
        _ratio(launch.groups_per_unit),
        launch.idle_share,
        float(sizes.local_size[0] % width > 0),
    ]


@_group("analytic", "profile is known", "analytic time", *(f"{part} share" for part in PARTS))
def _launch_analytic(launch: DescribedLaunch) -> list[float]:
    estimate = launch.estimate
    if estimate is None:
        return [0.0] * (2 + len(PARTS))
    # Relative to an item's share of the device, so that launches of any size compare.
    each = estimate.seconds / max(1, launch.planned.sizes.items)
    return [1.0, _ratio(each * 1e9), *_shares(launch)]


@_group("time", "whole time", "time of a group")
def _time(launch: DescribedLaunch) -> list[float]:
    """The analytic model's nanoseconds; 0 without a profile."""
    estimate = launch.estimate
    if estimate is None:
        return [0.0, 0.0]
    whole = estimate.seconds * 1e9
    return [_cut(whole), _cut(whole / max(1, launch.planned.sizes.groups))]


@_group("vectors", "lanes used", "odd by 4", "odd by 8", "odd by 16", "rows")
def vectors(launch: DescribedLaunch) -> list[float]:
    """Return how work-items fill vectors along dimension 0, and the rows of work-items in a group."""
    first, second, third = launch.planned.sizes.local_size
    return [
        min(0.0, math.log2(first / launch.device.simd_width)),
        *(float(first % lanes > 0) for lanes in (4, 8, 16)),
        math.log2(second * third),
    ]


@_group(
    "accesses",
    *("mean bytes", "wide accesses", "stores", "accesses at loaded addresses", "mean stride"),
    *("single copies", "copies that touch", "copies in a line", "copies in a page", "copies far apart"),
    "strided stores",
)
def accesses(launch: DescribedLaunch) -> list[float]:
    """Return shares of the accesses to memory that all work-groups share, weighted by how often they are made."""
    total = sum(access.count for access in launch.outer) or 1.0
    found = [0.0] * 11
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


def _stride(access: AccessCount) -> float:
    if access.lane_stride is None:
        return _MOST_STRIDE
    return min(_MOST_STRIDE, math.log2(1.0 + abs(access.lane_stride) / access.bytes))


def _copies(access: AccessCount) -> int:
    """Return how far the nearest copy of an access lies: 0 where there is none, up to 4."""
    if access.replica_stride is None:
        return 0
    return 1 + sum(access.replica_stride > most for most in (access.bytes, _LINE, _PAGE))


# Of a coarsening.


@_group(
    "configuration",
    *(f"factor of items along {dimension}" for dimension in range(DIMENSIONS)),
    *(f"factor of groups along {dimension}" for dimension in range(DIMENSIONS)),
    *("merged items", "merged groups", "merged", "stride", "wide accesses"),
)
def _configuration(pair: Pair) -> list[float]:
    factors = {level: [0.0] * DIMENSIONS for level in Level}
    stride = 0.0
    for coarsening in pair.after.variant.coarsenings:
        factors[coarsening.level][coarsening.dimension] = math.log2(coarsening.factor)
        stride = max(stride, math.log2(coarsening.stride))
    items, groups = factors[Level.ITEM], factors[Level.GROUP]
    is_wide = pair.after.variant.transforms.wide_accesses
    return [*items, *groups, sum(items), sum(groups), sum(items) + sum(groups), stride, float(is_wide)]


@_group(
    "work",
    "growth of work",
    *(f"change of {kind}" for kind in _CLASSES),
    *("growth of bytes", "growth of dependent operations", "growth of dependent accesses"),
    *("growth of barriers", "growth of live words", "live words after", "parallelism after"),
)
def _work(pair: Pair) -> list[float]:
    """The change of work for each original work-item."""
    before, after = pair.before, pair.after
    whole = max(before.total, 1.0)
    first, second = before.planned.work, after.planned.work
    return [
        _growth(before.total, after.total),
        *((after.instructions[kind] - before.instructions[kind]) / whole for kind in InstructionClass),
        _growth(before.outer_bytes, after.outer_bytes),
        _growth(first.chain_operations, second.chain_operations / after.merged),
        _growth(first.chain_accesses, second.chain_accesses / after.merged),
        _growth(first.barriers, second.barriers / after.merged),
        _growth(first.live_words, second.live_words),
        _log(second.live_words),
        _parallelism(after),
    ]


@_group(
    "patterns",
    *(f"{pattern} before" for pattern in PATTERNS),
    *(f"{pattern} after" for pattern in PATTERNS),
    "copies that touch",
)
def _patterns(pair: Pair) -> list[float]:
    return [*pair.before.patterns[: len(PATTERNS)], *pair.after.patterns]


@_group("plan", *(f"plan: {name}" for name in PLAN_COSTS))
def _plan(pair: Pair) -> list[float]:
    return [_log(pair.after.planned.costs.get(name, 0.0)) for name in PLAN_COSTS]


@_group(
    "filling",
    *("groups for each unit before", "groups for each unit after", "idle share before", "idle share after"),
    *("items for each lane", "group size after"),
    *(f"{name} after" for name in _EXTENTS),
    *("vectors along 0", "lanes left over"),
)
def _filling(pair: Pair) -> list[float]:
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


@_group(
    "analytic",
    *("profile is known", "analytic speed-up"),
    *(f"growth of {part} time" for part in PARTS),
    *(f"{part} share before" for part in PARTS),
    *(f"{part} share after" for part in PARTS),
)
def _analytic(pair: Pair) -> list[float]:
    first, second = pair.before.estimate, pair.after.estimate
    if first is None or second is None:
        return [0.0] * (2 + 3 * len(PARTS))
    times = [(first.parts.get(name, 0.0), second.parts.get(name, 0.0)) for name in PARTS]
    growths = [_ratio(after / before) if before > 0.0 and after > 0.0 else 0.0 for before, after in times]
    return [1.0, _ratio(first.seconds / second.seconds), *growths, *_shares(pair.before), *_shares(pair.after)]


@_group("accesses", "growth of moved bytes", "moved bytes", "growth of accesses")
def _accesses_change(pair: Pair) -> list[float]:
    """The growth of bytes moved for each original work-item, these bytes, and the growth of accesses."""
    before, after = map(_moved, pair)
    count_before, count_after = (sum(access.count for access in each.outer) / each.merged for each in pair)
    return [
        _cut(after / max(before, _SMALL_TIME)) if after > 0.0 else 0.0,
        _cut(after),
        _cut(count_after / max(count_before, _SMALL_TIME)) if count_after > 0.0 else 0.0,
    ]


def _moved(launch: DescribedLaunch) -> float:
    profile = launch.device.profile
    sector = (profile.sector_bytes if profile else None) or (_GPU_SECTOR if launch.device.is_gpu else _LINE)
    lanes = launch.device.simd_width
    return sum(each.count * moved_bytes(each, lanes, sector) for each in launch.outer) / launch.merged


@_group("divergence", *DIVERGENCE_FACTS)
def divergence(pair: Pair) -> list[float]:
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


# What vectors over work-items cost: gathers, scatters, masks, and scalar code.
#
# A group whose extent along dimension 0 fills a vector can run its work-items as lanes. Accesses that don't lie
# side by side are then gathered lane by lane, and branches that part are masked; a shorter group runs scalar code,
# in which OpenCL's own vector types are still vectors. What decides is not known: these are the costs of either.


@_group(
    "gathers",
    *("fills a vector before", "fills a vector after", "apart before", "apart after"),
    *("gathered before", "gathered after", "share gathered before", "share gathered after"),
    *(f"speed-up if a gather costs {int(cost)}" for cost in _GATHER_COSTS),
    *("scalar operations after", "masked before", "masked after", "growth of accesses apart"),
)
def gathers(pair: Pair) -> list[float]:
    """Return what vectors over work-items cost before and after."""
    before, after = map(_Lanes.of, pair)
    speedups = (_at_least(first / second) for first, second in zip(before.costs, after.costs, strict=True))
    return [
        *(float(each.fills) for each in (before, after)),
        *(math.log2(1.0 + each.apart) for each in (before, after)),
        *(math.log2(1.0 + each.gathered) for each in (before, after)),
        *(each.gathered / each.operations for each in (before, after)),
        *speedups,
        0.0 if after.fills else math.log2(1.0 + after.operations),
        *(each.masked for each in (before, after)),
        _at_least((after.apart + _SMALL_RATIO) / (before.apart + _SMALL_RATIO)),
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
        # Elements that a lane's neighbour doesn't have beside it, of memory of any kind; vectors count one by one.
        elements = (
            access.count * max(1.0, access.bytes / _WORD)
            for access in launch.planned.work.accesses
            if access.lane_stride is None or abs(access.lane_stride) not in (0, _WORD)
        )
        apart = sum(elements) / launch.merged
        gathered = apart if fills else 0.0
        parting = sum(facts.get(along(f"divergent {kind} share", 0), 0.0) for kind in ("guard", "loop"))
        lanes = width if fills else max(1.0, facts.get("mean vector width", 1.0))
        costs = tuple(operations / lanes + gathered * cost for cost in _GATHER_COSTS)
        return cls(fills, operations, apart, gathered, parting if fills else 0.0, costs)


def _shares(launch: DescribedLaunch) -> list[float]:
    """Each part of an estimate over the whole of it."""
    estimate = launch.estimate
    if estimate is None or not estimate.seconds:
        return [0.0] * len(PARTS)
    return [min(2.0, estimate.parts.get(name, 0.0) / estimate.seconds) for name in PARTS]


def _parallelism(launch: DescribedLaunch) -> float:
    work = launch.planned.work
    return _ratio(max(1.0, launch.total * launch.merged) / max(1.0, work.chain_operations))


def _growth(before: float, after: float) -> float:
    return _ratio((after + _SMALL) / (before + _SMALL))


def _ratio(value: float) -> float:
    """log2 of a ratio, within bounds; 0 where it is none."""
    if not value > 0.0 or not math.isfinite(value):
        return 0.0
    return max(-_MOST, min(_MOST, math.log2(value)))


def _log(count: float) -> float:
    return math.log2(1.0 + max(0.0, count))


def _at_least(value: float) -> float:
    return math.log2(max(value, 2.0**_LEAST))


def _cut(value: float) -> float:
    return min(_MOST_LOG, _at_least(value))


# The rows that trees see.

_KERNEL_GROUPS = (_kernel, _caches, _device)
_LAUNCH_GROUPS = (_launch, _launch_analytic, _time, vectors)
_COARSENING_GROUPS = (
    *(_configuration, _work, _patterns, _plan, _filling, _analytic),
    *(_side(accesses, "before"), _side(accesses, "after"), _accesses_change),
    *(_side(_time, "before"), _side(_time, "after"), _side(vectors, "after"), gathers, divergence),
    *(_side(group, "before", "") for group in (*_KERNEL_GROUPS, _code)),
)


def coarsening_row(pair: Pair) -> Array:
    """Return the inputs of a coarsened launch, (number of `COARSENING_INPUTS`,)."""
    return _row(_COARSENING_GROUPS, pair)


def local_size_rows(uncoarsened: Sequence[DescribedLaunch]) -> Rows:
    """Return the inputs of a kernel's uncoarsened launches, (launches, number of `LOCAL_SIZE_INPUTS`).

    What depends on the local size stands there twice: as it is, and less its mean over these launches.
    """
    plain = np.array([_row(_LAUNCH_GROUPS, launch) for launch in uncoarsened])
    kernel = np.array([_row((*_KERNEL_GROUPS, _code), launch) for launch in uncoarsened])
    return in_half_precision(np.concatenate([plain, plain - plain.mean(axis=0), kernel], axis=1))


def kernel_place(launch: DescribedLaunch) -> Array:
    """Return where a kernel lies among others, whatever its launch: (number of kernel inputs,)."""
    return _row(_KERNEL_GROUPS, launch)


def _row(groups: Sequence[InputGroup[_Subject]], subject: _Subject) -> Array:
    values = [value for group in groups for value in group.values(subject)]
    return np.array(values, dtype=np.float64)


def _columns(groups: Sequence[InputGroup[_Subject]]) -> tuple[tuple[str, str], ...]:
    return tuple((group.name, name) for group in groups for name in group.names)


COARSENING_INPUTS = _columns(_COARSENING_GROUPS)
"""Group and name of each input of a coarsened launch."""
LOCAL_SIZE_INPUTS = (
    *_columns(_LAUNCH_GROUPS),
    *((group, f"{name}, less the mean") for group, name in _columns(_LAUNCH_GROUPS)),
    *_columns((*_KERNEL_GROUPS, _code)),
)
"""Group and name of each input of an uncoarsened launch."""
PLACE_NAMES = tuple(name for _, name in _columns(_KERNEL_GROUPS))
