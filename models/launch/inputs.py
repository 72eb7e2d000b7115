"""What the trees see of a launch.

    before, after ─▶ configuration, change of work, patterns of access, plan, filling of the device, analytic model
    uncoarsened   ─▶ the kernel, the launch, and how it lies among the local sizes that are compared

All is relative: to the uncoarsened launch, to a total, to the device. Of the device nothing enters but its kind,
and what its profile makes of a launch. Counts go in as logarithms (base 2); what isn't known is 0, with a flag.
Inputs are rounded to half precision, so that thresholds between them can be stored in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from coarsen.features.work_counts import InstructionClass
from coarsen.models.launch.described import PATTERNS, DescribedLaunch
from coarsen.models.launch.planning import PLAN_COSTS
from coarsen.models.trees.arrays import Array, Rows, in_half_precision
from coarsen.variant.coarsening import DIMENSIONS, Level

# Added to counts for each work-item, which may be 0.
_SMALL = 0.25
_PARTS = ("compute", "memory", "first-level cache", "local memory", "latency", "groups")
_CLASSES = tuple(kind.value for kind in InstructionClass)
_LEVELS = 3
_DIMENSION_NAMES = tuple(str(dimension) for dimension in range(DIMENSIONS))
# Logarithms of ratios are cut here: a thousand times is as good as never.
_MOST = 10.0

_Subject = TypeVar("_Subject")


@dataclass(frozen=True, slots=True)
class Pair:
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
    values: Callable[[_Subject], Sequence[float]]


def coarsening_row(pair: Pair) -> Array:
    """Return the inputs of a coarsened launch, (number of `COARSENING_INPUTS`,)."""
    return _row(COARSENING_GROUPS, pair)


def local_size_rows(uncoarsened: Sequence[DescribedLaunch]) -> Rows:
    """Return the inputs of a kernel's uncoarsened launches, (launches, number of `LOCAL_SIZE_INPUTS`).

    What depends on the local size stands there twice: as it is, and less its mean over these launches.
    """
    plain = np.array([_row(_LAUNCH_GROUPS, launch) for launch in uncoarsened])
    kernel = np.array([_row(_KERNEL_GROUPS, launch) for launch in uncoarsened])
    return in_half_precision(np.concatenate([plain, plain - plain.mean(axis=0), kernel], axis=1))


def kernel_place(launch: DescribedLaunch) -> Array:
    """Return where a kernel lies among others, whatever its launch: (number of kernel inputs,)."""
    return _row(_KERNEL_GROUPS, launch)


def _row(groups: Sequence[InputGroup[_Subject]], subject: _Subject) -> Array:
    values = [list(group.values(subject)) for group in groups]
    for group, found in zip(groups, values, strict=True):
        assert len(found) == len(group.names), group.name
    return np.array([value for found in values for value in found], dtype=np.float64)


def _configuration(pair: Pair) -> list[float]:
    factors = {level: [0.0] * DIMENSIONS for level in Level}
    stride = 0.0
    for coarsening in pair.after.variant.coarsenings:
        factors[coarsening.level][coarsening.dimension] = math.log2(coarsening.factor)
        stride = max(stride, math.log2(coarsening.stride))
    items, groups = factors[Level.ITEM], factors[Level.GROUP]
    is_wide = pair.after.variant.transforms.wide_accesses
    return [*items, *groups, sum(items), sum(groups), sum(items) + sum(groups), stride, float(is_wide)]


def _work(pair: Pair) -> list[float]:
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


def _patterns(pair: Pair) -> list[float]:
    return [*pair.before.patterns[: len(PATTERNS)], *pair.after.patterns]


def _plan(pair: Pair) -> list[float]:
    return [_log(pair.after.planned.costs.get(name, 0.0)) for name in PLAN_COSTS]


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


def _analytic(pair: Pair) -> list[float]:
    first, second = pair.before.estimate, pair.after.estimate
    if first is None or second is None:
        return [0.0] * len(_ANALYTIC_NAMES)
    parts = [_part_growth(first.parts.get(name, 0.0), second.parts.get(name, 0.0)) for name in _PARTS]
    return [1.0, _ratio(first.seconds / second.seconds), *parts, *_shares(pair.before), *_shares(pair.after)]


def _shares(launch: DescribedLaunch) -> list[float]:
    """Each part of an estimate over the whole of it."""
    estimate = launch.estimate
    if estimate is None or not estimate.seconds:
        return [0.0] * len(_PARTS)
    return [min(2.0, estimate.parts.get(name, 0.0) / estimate.seconds) for name in _PARTS]


def _launch(launch: DescribedLaunch) -> list[float]:
    sizes, width = launch.planned.sizes, launch.device.simd_width
    return [
        *(math.log2(extent) for extent in sizes.local_size),
        _ratio(sizes.group_items),
        _ratio(launch.groups_per_unit),
        launch.idle_share,
        float(sizes.local_size[0] % width > 0),
    ]


def _launch_analytic(launch: DescribedLaunch) -> list[float]:
    estimate = launch.estimate
    if estimate is None:
        return [0.0] * (2 + len(_PARTS))
    # Relative to an item's share of the device, so that launches of any size compare.
    each = estimate.seconds / max(1, launch.planned.sizes.items)
    return [1.0, _ratio(each * 1e9), *_shares(launch)]


def _kernel(launch: DescribedLaunch) -> list[float]:
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


def _caches(launch: DescribedLaunch) -> list[float]:
    """The footprint over each level of the memory, nearest first; and whether it is known."""
    profile, footprint = launch.device.profile, launch.footprint
    levels = [level.bytes for level in profile.levels if level.bytes] if profile else []
    if footprint is None or not levels:
        return [0.0] * (1 + _LEVELS)
    nearest = [*levels, *[levels[-1]] * _LEVELS][:_LEVELS]
    return [1.0, *(_ratio(footprint / level) for level in nearest)]


def _device(launch: DescribedLaunch) -> list[float]:
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


def _before(values: Callable[[DescribedLaunch], Sequence[float]]) -> Callable[[Pair], Sequence[float]]:
    return lambda pair: values(pair.before)


_ANALYTIC_NAMES = (
    "profile is known",
    "analytic speed-up",
    *(f"growth of {part} time" for part in _PARTS),
    *(f"{part} share before" for part in _PARTS),
    *(f"{part} share after" for part in _PARTS),
)
_KERNEL_NAMES = (
    "work",
    *(f"share of {kind}" for kind in _CLASSES),
    *("bytes for each instruction", "barriers", "atomics", "local memory", "live words", "parallelism"),
    *("dependent accesses", "something unknown"),
    *(f"{pattern} accesses" for pattern in PATTERNS),
)
_KERNEL_GROUPS: tuple[InputGroup[DescribedLaunch], ...] = (
    InputGroup("kernel", _KERNEL_NAMES, _kernel),
    InputGroup(
        "caches", ("footprint is known", *(f"footprint over level {n + 1}" for n in range(_LEVELS))), _caches
    ),
    InputGroup("device", ("is GPU", "vectorises work-items"), _device),
)
_LAUNCH_GROUPS: tuple[InputGroup[DescribedLaunch], ...] = (
    InputGroup(
        "launch",
        (
            *(f"local extent {name}" for name in _DIMENSION_NAMES),
            *("group size", "groups for each unit", "idle share", "lanes left over"),
        ),
        _launch,
    ),
    InputGroup(
        "analytic",
        ("profile is known", "analytic time", *(f"{part} share" for part in _PARTS)),
        _launch_analytic,
    ),
)
COARSENING_GROUPS: tuple[InputGroup[Pair], ...] = (
    InputGroup(
        "configuration",
        (
            *(f"factor of items along {name}" for name in _DIMENSION_NAMES),
            *(f"factor of groups along {name}" for name in _DIMENSION_NAMES),
            *("merged items", "merged groups", "merged", "stride", "wide accesses"),
        ),
        _configuration,
    ),
    InputGroup(
        "work",
        (
            "growth of work",
            *(f"change of {kind}" for kind in _CLASSES),
            *("growth of bytes", "growth of dependent operations", "growth of dependent accesses"),
            *("growth of barriers", "growth of live words", "live words after", "parallelism after"),
        ),
        _work,
    ),
    InputGroup(
        "patterns",
        (
            *(f"{pattern} before" for pattern in PATTERNS),
            *(f"{pattern} after" for pattern in PATTERNS),
            "copies that touch",
        ),
        _patterns,
    ),
    InputGroup("plan", tuple(f"plan: {name}" for name in PLAN_COSTS), _plan),
    InputGroup(
        "filling",
        (
            *(
                "groups for each unit before",
                "groups for each unit after",
                "idle share before",
                "idle share after",
            ),
            *("items for each lane", "group size after"),
            *(f"local extent {name} after" for name in _DIMENSION_NAMES),
            *("vectors along 0", "lanes left over"),
        ),
        _filling,
    ),
    InputGroup("analytic", _ANALYTIC_NAMES, _analytic),
    *(InputGroup(group.name, group.names, _before(group.values)) for group in _KERNEL_GROUPS),
)
"""The inputs of a coarsened launch."""


def _columns(groups: Sequence[InputGroup[_Subject]]) -> tuple[tuple[str, str], ...]:
    return tuple((group.name, name) for group in groups for name in group.names)


COARSENING_INPUTS = _columns(COARSENING_GROUPS)
"""Group and name of each input of a coarsened launch."""
LOCAL_SIZE_INPUTS = (
    *_columns(_LAUNCH_GROUPS),
    *((group, f"{name}, less the mean") for group, name in _columns(_LAUNCH_GROUPS)),
    *_columns(_KERNEL_GROUPS),
)
"""Group and name of each input of an uncoarsened launch."""
PLACE_NAMES = tuple(name for _, name in _columns(_KERNEL_GROUPS))
