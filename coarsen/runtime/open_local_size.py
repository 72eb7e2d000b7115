"""A local size for a coarsened launch whose caller left it open.

Work-items at a stride above 1 need a coarsened local size that the stride divides; whole work-groups, and kernels
that look at theirs, need one that the original launch could have had: it divides the original global size and is
within the limits of the original kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coarsen.runtime.sizes import LaunchLimits, Sizes
from coarsen.variant.coarsening import Coarsening, Configuration, Level

# Larger work-groups gain nothing more.
PREFERRED_WORK_GROUP_SIZE = 256


def local_size_of_coarsened(global_size: Sizes, coarsenings: Configuration, limits: LaunchLimits) -> Sizes | None:
    """Return a coarsened local size that divides the coarsened global size and that every stride divides.

    None where there is none. Starts at the strides and grows, dimension 0 first, to the preferred size.
    """
    strides = [1] * len(global_size)
    for coarsening in coarsenings:
        strides[coarsening.dimension] = coarsening.stride
    return _grown(global_size, strides, [1] * len(global_size), PREFERRED_WORK_GROUP_SIZE, limits)


def local_size_of_original(global_size: Sizes, wanted: Configuration, limits: LaunchLimits) -> Sizes | None:
    """Return a local size for the original launch that lets it be coarsened; None where its limits allow none.

    It divides the global size; F·S divides it where work-items are merged (for the largest F that can), and F
    divides the number of work-groups where these are, if that can be.
    """
    units, groups, preferred = [1] * len(global_size), [1] * len(global_size), PREFERRED_WORK_GROUP_SIZE
    for coarsening in wanted:
        dimension = coarsening.dimension
        if dimension >= len(global_size):
            continue
        if coarsening.level is Level.GROUP:
            groups[dimension] = coarsening.factor
        else:
            factor = _dividing_factor(coarsening, global_size[dimension])
            units[dimension] = factor * coarsening.stride if factor > 1 else 1
            preferred *= factor
    return _grown(global_size, units, groups, preferred, limits)


def _dividing_factor(coarsening: Coarsening, extent: int) -> int:
    factors = range(min(coarsening.factor, extent), 1, -1)
    return next((factor for factor in factors if extent % (factor * coarsening.stride) == 0), 1)


def _grown(
    global_size: Sizes, units: Sequence[int], groups: Sequence[int], preferred: int, limits: LaunchLimits
) -> Sizes | None:
    """Return a local size of multiples of `units`, as large as is allowed, dimension 0 first.

    None if they are too large.

    It divides the global size, so that the number of work-groups is a multiple of `groups` if that can be.
    """
    allowed = limits.max_work_item_sizes
    if math.prod(units) > limits.max_work_group_size or any(u > a for u, a in zip(units, allowed, strict=False)):
        return None
    budget = min(preferred, limits.max_work_group_size)
    local = list(units)
    for dimension, (extent, unit) in enumerate(zip(global_size, units, strict=True)):
        others = math.prod(local) // unit
        local[dimension] = _best(extent, unit, groups[dimension], min(budget // others, allowed[dimension]))
    return tuple(local)


def _best(extent: int, unit: int, groups: int, most: int) -> int:
    """Return the largest multiple of `unit` that divides the extent and leaves enough work-groups to merge."""

    def rank(size: int) -> tuple[bool, bool, int]:
        count = extent // size
        return count % groups == 0, count >= groups, size

    sizes = [size for size in range(unit, most + 1, unit) if extent % size == 0]
    return max(sizes, key=rank, default=unit)
