"""The launch contract: from the sizes of an original launch to those of its coarsened kernel.

A kernel coarsened by factor F with stride S along dimension d does the work of F work-items of one work-group
in one:

    original    global G,    local L        F divides G and L, S divides L/F
    coarsened   global G/F,  local L/F

Where the sizes don't divide, the largest smaller factor that does is taken (with the same stride), down to
factor 1, which is the original kernel. A launch is never wrong, at worst it isn't coarsened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.transform.configuration import Coarsening

# Where the caller leaves the local size open and the stride needs one, larger groups gain nothing any more.
PREFERRED_WORK_GROUP_SIZE = 256


@dataclass(frozen=True, slots=True)
class LaunchLimits:
    """What a device takes: work-items per work-group, in all and per dimension."""

    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DividedLaunch:
    """How a launch is carried out.

    `coarsenings` are those of the kernel to launch, none for the original kernel (the sizes are then the
    caller's). `note` says in one line why it isn't what was asked for, None where it is.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    coarsenings: tuple[Coarsening, ...]
    note: str | None = None


def divide_launch(
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    coarsenings: Sequence[Coarsening],
    limits: LaunchLimits,
) -> DividedLaunch:
    """The launch that does the work of the original launch with a coarsened kernel.

    `global_size` and `local_size` (None: left to the implementation) are the original's, in work-items, one
    to three dimensions; `coarsenings` what is asked for, at most one per dimension. Where the local size is
    open it stays open for stride 1; a larger stride needs one that it divides, which is then chosen within
    `limits`.
    """
    original = DividedLaunch(global_size, local_size, ())
    wanted = tuple(coarsening for coarsening in coarsenings if coarsening.factor > 1)
    if not wanted or not _is_plain(global_size, local_size):
        return original
    fitted = (_fit(coarsening, global_size, local_size, limits) for coarsening in wanted)
    used = tuple(coarsening for coarsening in fitted if coarsening is not None)
    divided_global = _divide(global_size, used)
    if local_size is not None:
        divided_local: tuple[int, ...] | None = _divide(local_size, used)
    elif all(coarsening.stride == 1 for coarsening in used):
        divided_local = None
    else:
        divided_local = _choose_local_size(divided_global, used, limits)
        if divided_local is None:
            return DividedLaunch(global_size, None, (), f"no work-group holds the strides of {_names(wanted)}")
    return DividedLaunch(divided_global, divided_local, used, _note(global_size, local_size, wanted, used))


def _is_plain(global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> bool:
    """Whether every work-group is whole; anything else (also what OpenCL will reject) is left to the original
    kernel.
    """
    if min(global_size, default=0) < 1:
        return False
    if local_size is None:
        return True
    if len(local_size) != len(global_size) or min(local_size) < 1:
        return False
    return all(whole % part == 0 for whole, part in zip(global_size, local_size, strict=True))


def _fit(
    coarsening: Coarsening, global_size: tuple[int, ...], local_size: tuple[int, ...] | None, limits: LaunchLimits
) -> Coarsening | None:
    """The coarsening with the largest factor up to its own that divides the sizes, None where only factor 1
    does.
    """
    dimension, stride = coarsening.dimension, coarsening.stride
    if dimension >= len(global_size):
        return None
    # With the local size open, one that the stride divides must exist: the smallest is the stride itself.
    extent = global_size[dimension] if local_size is None else local_size[dimension]
    if local_size is None and stride > limits.max_work_item_sizes[dimension]:
        return None
    for factor in range(min(coarsening.factor, extent), 1, -1):
        # The local size divides the global size, so a factor that divides the first divides the second.
        if extent % factor == 0 and (extent // factor) % stride == 0:
            return Coarsening(factor, dimension, stride)
    return None


def _divide(sizes: tuple[int, ...], coarsenings: tuple[Coarsening, ...]) -> tuple[int, ...]:
    factors = {coarsening.dimension: coarsening.factor for coarsening in coarsenings}
    return tuple(size // factors.get(dimension, 1) for dimension, size in enumerate(sizes))


def _choose_local_size(
    global_size: tuple[int, ...], coarsenings: tuple[Coarsening, ...], limits: LaunchLimits
) -> tuple[int, ...] | None:
    """A local size that divides the (coarsened) global size and that every stride divides; None where there
    is none.

    Starts at the strides themselves and then grows, dimension 0 first, to the preferred work-group size.
    """
    local = [1] * len(global_size)
    for coarsening in coarsenings:
        local[coarsening.dimension] = coarsening.stride
    if math.prod(local) > limits.max_work_group_size:
        return None
    budget = min(PREFERRED_WORK_GROUP_SIZE, limits.max_work_group_size)
    for dimension, stride in enumerate(tuple(local)):
        others = math.prod(local) // stride
        most = min(budget // others, limits.max_work_item_sizes[dimension])
        sizes = range(stride, most + 1, stride)
        local[dimension] = max((size for size in sizes if global_size[dimension] % size == 0), default=stride)
    return tuple(local)


def _note(
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    wanted: tuple[Coarsening, ...],
    used: tuple[Coarsening, ...],
) -> str | None:
    if wanted == used:
        return None
    sizes = f"global size {global_size}, local size {local_size or 'open'}"
    instead = _names(used) if used else "the original kernel"
    return f"{sizes} does not divide by {_names(wanted)}: launched with {instead}"


def _names(coarsenings: tuple[Coarsening, ...]) -> str:
    return ", ".join(str(coarsening) for coarsening in coarsenings)
