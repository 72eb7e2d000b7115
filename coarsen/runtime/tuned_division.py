"""The launch of a version whose sizes divide, at once: as `LaunchChooser` has it, from facts kept of the version.

To ask the driver and to weigh guards and smaller factors takes longer than a launch. Most launches of a tuned
kernel divide, and need none of that; of the others nothing is said here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyopencl

from coarsen.runtime.launches import KernelLaunches, LaunchedVariant
from coarsen.runtime.original_launch import required_local_size
from coarsen.runtime.sizes import Sizes
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Variant

_INFO = pyopencl.kernel_work_group_info


@dataclass(frozen=True, slots=True)
class ExactDivision:
    """Divides launches of one version on one device.

    Args:
        launched: the variant without a guard.
        parts: dimensions, in their order, each with its factor of work-items and the stride.
        most_items: of a coarsened work-group.
        may_be_open: whether the local size may be left to the driver.
    """

    launched: LaunchedVariant
    parts: tuple[tuple[int, int, int], ...]
    most_items: int
    may_be_open: bool

    def divided(self, global_size: Sizes, local_size: Sizes | None) -> tuple[Sizes, Sizes | None] | None:
        """Return the sizes of the coarsened launch; None where more has to be looked at.

        Args:
            global_size: of the original launch, in work-items.
            local_size: of the original launch; None: left to the driver.
        """
        if len(global_size) == 1 and local_size is not None and len(local_size) == 1 and len(self.parts) == 1:
            # The most common launch, without any call.
            (dimension, factor, stride), size, extent = self.parts[0], local_size[0], global_size[0]
            left = size // factor
            fits = size > 1 and extent > 0 and extent % size == 0 and size % factor == 0
            if dimension or not fits or left % stride or left > self.most_items:
                return None
            return (extent // factor,), (left,)
        if self.parts[-1][0] >= len(global_size) or min(global_size) < 1:
            return None
        whole = list(global_size)
        if local_size is None:
            if not self.may_be_open:
                return None
            for dimension, factor, _ in self.parts:
                whole[dimension], rest = divmod(whole[dimension], factor)
                if rest:
                    return None
            return tuple(whole), None
        if len(local_size) != len(global_size) or min(local_size) < 1:
            return None
        if any(local_size[dimension] == 1 for dimension, _, _ in self.parts):
            # In a group of one work-item, there is none to merge with.
            return None
        return self._merged(whole, local_size)

    def _merged(self, whole: list[int], local_size: Sizes) -> tuple[Sizes, Sizes | None] | None:
        for extent, size in zip(whole, local_size, strict=True):
            if extent % size:
                return None
        local = list(local_size)
        for dimension, factor, stride in self.parts:
            local[dimension], rest = divmod(local[dimension], factor)
            if rest or local[dimension] % stride:
                return None
            whole[dimension] //= factor
        return None if math.prod(local) > self.most_items else (tuple(whole), tuple(local))


def exact_division(
    variant: Variant, launches: KernelLaunches, original: pyopencl.Kernel, device: pyopencl.Device
) -> ExactDivision | None:
    """Return what divides a version's launches on a device; None where each has to be looked at.

    Args:
        variant: one that is built, coarsened.
        launches: of the version.
        original: a kernel object of it as it is written.
        device: of its context.
    """
    if variant.merges_groups or required_local_size(original, device) is not None:
        return None
    plan = launches.plan
    plain = plan.variant_of(variant.coarsenings, False, variant.transforms)
    code, kernel = plan.code(launches.name, plain), plan.variant(launches.name, plain)
    launched = launches.launched(plain)
    if code is None or kernel is None or launched.is_conditional or launched.added:
        return None
    parts = tuple((entry.dimension, entry.factor, entry.stride) for entry in variant.coarsenings)
    is_plain = all(entry.level is Level.ITEM and entry.factor > 1 for entry in variant.coarsenings)
    may_be_open = not code.needs_whole_groups and all(stride == 1 for _, _, stride in parts)
    limit = int(kernel.get_work_group_info(_INFO.WORK_GROUP_SIZE, device))
    return ExactDivision(launched, tuple(sorted(parts)), limit, may_be_open) if is_plain and parts else None
