"""The values of the inputs, a group at a time; `inputs.py` has their names.

Logarithms are to base 2; of counts v they are log2(1 + v).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.cost.work_counts import InstructionClass
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
