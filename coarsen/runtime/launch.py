"""The launch contract: from the sizes of an original launch to those of its coarsened kernel.

A kernel coarsened by factor F with stride S along dimension d does the work of F work-items of one work-group
in one; at the level of work-groups, that of F work-groups:

    original    global G,    local L        work-items: F divides G and L, S divides L/F
    coarsened   global G/F,  local L/F
    coarsened   global G/F,  local L        work-groups: F divides G/L

Where the sizes don't divide, the largest smaller factor that does is taken (with the same stride), down to
factor 1, which is the original kernel; a guarded kernel (`guarded_launch.py`) keeps the factor. A launch is never
wrong, at worst it isn't coarsened.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coarsen.runtime.open_local_size import local_size_of_coarsened, local_size_of_original
from coarsen.runtime.sizes import LaunchLimits, Sizes, is_plain
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.transforms import Transforms

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


class Hindrance(enum.Enum):
    """The kind of reason for which a launch isn't what was asked for; what is said once is said once for each."""

    SIZES = enum.auto()
    STRIDES = enum.auto()
    WORK_GROUP_SIZE = enum.auto()
    LOCAL_MEMORY = enum.auto()


@dataclass(frozen=True, slots=True)
class DividedLaunch:
    """The way a launch is carried out.

    `coarsenings` are those of the kernel to launch, none for the original kernel (the sizes are then the
    caller's, or, where it is `regrouped`, with another local size); `guarded` says whether it is the variant for
    any size. `note` says in one line why it isn't what was asked for, None where it is, and where there is nothing
    to merge; `hindrance` is the kind of that reason. Where an advisor chose, `transforms` are those of the variant
    and `reason` says why; else None. `arrays` are the array plans that the variant is for.
    """

    global_size: Sizes
    local_size: Sizes | None
    coarsenings: Configuration
    note: str | None = None
    guarded: bool = False
    hindrance: Hindrance | None = None
    regrouped: bool = False
    transforms: Transforms | None = None
    reason: str | None = None
    arrays: tuple[ArrayPlan, ...] = ()


def divide_launch(
    global_size: Sizes,
    local_size: Sizes | None,
    coarsenings: Sequence[Coarsening],
    limits: LaunchLimits,
    groups_matter: bool = False,
) -> DividedLaunch:
    """Return the launch that does the work of the original launch with a coarsened kernel, by factors that divide.

    `global_size` and `local_size` (None: left to the implementation) are the original's, in work-items, one to
    three dimensions; `coarsenings` what is asked for, at most one per dimension and level. Where the local size is
    open it stays open for work-items at stride 1, unless the kernel looks at its work-groups (`groups_matter`);
    else one is chosen within `limits`, those of the device and of the original kernel.
    """
    wanted = tuple(coarsening for coarsening in coarsenings if coarsening.factor > 1)
    if not wanted or not is_plain(global_size, local_size):
        return DividedLaunch(global_size, local_size, ())
    if local_size is None and (groups_matter or any(entry.level is Level.GROUP for entry in wanted)):
        chosen = local_size_of_original(global_size, wanted, limits)
        if chosen is None:
            return _no_group_holds(global_size, wanted)
        divided = _divided(global_size, chosen, wanted)
        return divided if divided.coarsenings else replace(divided, local_size=None)
    if local_size is not None:
        return _divided(global_size, local_size, wanted)
    return _divided_openly(global_size, wanted, limits)


def _divided(global_size: Sizes, local_size: Sizes, wanted: Configuration) -> DividedLaunch:
    fitted = (_fit(coarsening, global_size, local_size) for coarsening in wanted)
    used = tuple(coarsening for coarsening in fitted if coarsening is not None)
    items = tuple(coarsening for coarsening in used if coarsening.level is Level.ITEM)
    is_lone = all(_is_lone_group(coarsening, global_size, local_size) for coarsening in wanted)
    note = None if is_lone else _note(global_size, local_size, wanted, used)
    divided = DividedLaunch(_quotients(global_size, used), _quotients(local_size, items), used)
    return divided if note is None else replace(divided, note=note, hindrance=Hindrance.SIZES)


def _is_lone_group(coarsening: Coarsening, global_size: Sizes, local_size: Sizes) -> bool:
    """Return True if there is one work-group along the dimension, and so none to merge it with."""
    dimension = coarsening.dimension
    is_there = coarsening.level is Level.GROUP and dimension < len(global_size)
    return is_there and global_size[dimension] == local_size[dimension]


def _divided_openly(global_size: Sizes, wanted: Configuration, limits: LaunchLimits) -> DividedLaunch:
    """For work-items of kernels that any local size suits: only strides need one."""
    fitted = (_fit_open(coarsening, global_size, limits) for coarsening in wanted)
    used = tuple(coarsening for coarsening in fitted if coarsening is not None)
    divided, local_size = _quotients(global_size, used), None
    if any(coarsening.stride > 1 for coarsening in used):
        local_size = local_size_of_coarsened(divided, used, limits)
        if local_size is None:
            return _no_group_holds(global_size, wanted)
    note = _note(global_size, None, wanted, used)
    return DividedLaunch(divided, local_size, used, note, hindrance=None if note is None else Hindrance.SIZES)


def _fit(coarsening: Coarsening, global_size: Sizes, local_size: Sizes) -> Coarsening | None:
    """Return the coarsening with the largest factor up to its own that divides the sizes; None if only 1 does."""
    dimension = coarsening.dimension
    if dimension >= len(global_size):
        return None
    if coarsening.level is Level.GROUP:
        return _largest(coarsening, global_size[dimension] // local_size[dimension])
    # The local size divides the global size, so a factor that divides the first divides the second.
    return _largest(coarsening, local_size[dimension])


def _fit_open(coarsening: Coarsening, global_size: Sizes, limits: LaunchLimits) -> Coarsening | None:
    """As `_fit`; a local size that the stride divides must exist: the smallest is the stride itself."""
    dimension = coarsening.dimension
    if dimension >= len(global_size) or coarsening.stride > limits.max_work_item_sizes[dimension]:
        return None
    return _largest(coarsening, global_size[dimension])


def _largest(coarsening: Coarsening, extent: int) -> Coarsening | None:
    for factor in range(min(coarsening.factor, extent), 1, -1):
        if extent % factor == 0 and (extent // factor) % coarsening.stride == 0:
            return replace(coarsening, factor=factor)
    return None


def merged_sizes(local_size: Sizes, coarsenings: Configuration) -> Sizes:
    """Return the local size of a coarsened launch; the original's where it does not divide.

    Args:
        local_size: the original's, in work-items.
        coarsenings: of work-items, and of work-groups, which leave it as it is.
    """
    items = tuple(entry for entry in coarsenings if entry.level is Level.ITEM)
    if any(entry.dimension >= len(local_size) or local_size[entry.dimension] % entry.factor for entry in items):
        return local_size
    return _quotients(local_size, items)


def _quotients(sizes: Sizes, coarsenings: Configuration) -> Sizes:
    divided = list(sizes)
    for coarsening in coarsenings:
        divided[coarsening.dimension] //= coarsening.factor
    return tuple(divided)


def _no_group_holds(global_size: Sizes, wanted: Configuration) -> DividedLaunch:
    note = f"no work-group holds the strides of {names_of(wanted)}"
    return DividedLaunch(global_size, None, (), note, hindrance=Hindrance.STRIDES)


def _note(global_size: Sizes, local_size: Sizes | None, wanted: Configuration, used: Configuration) -> str | None:
    if wanted == used:
        return None
    sizes = f"global size {global_size}, local size {local_size or 'open'}"
    return f"{sizes} does not divide by {names_of(wanted)}: launched with {names_of(used)}"


def names_of(coarsenings: Configuration) -> str:
    """Return a configuration in words."""
    return ", ".join(str(coarsening) for coarsening in coarsenings) or "the original kernel"
