"""The work of a kernel's coarsened forms, counted from the plan, for the models that reckon with it.

The sizes of the launches that were measured are not in the data. A launch of about a million work-items stands for
them, spread evenly over the dimensions of the local size.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, Sizes
from coarsen.cost.work_functions import launched_sizes
from coarsen.errors import CoarsenError
from coarsen.features import FACTORS
from coarsen.features.launch_size import launch_size, used_dimensions
from coarsen.ir.kernel import Kernel
from coarsen.models.examples import LaunchedWork
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from coarsen.variant.variant import Variant

# Powers of two, as every local size of the suite is, and about 2²⁰ in all.
ASSUMED_ITEMS: Mapping[int, Sizes] = {1: (1 << 20, 1, 1), 2: (1 << 10, 1 << 10, 1), 3: (1 << 7, 1 << 7, 1 << 6)}


def work_by_factor(
    kernel: Kernel, dimension: int, local_size: tuple[int, ...] | None
) -> Mapping[int, LaunchedWork]:
    """Return the work of a kernel at each factor that divides the local size, by replication alone.

    Args:
        kernel: as it was lowered.
        dimension: of the NDRange, along which it is coarsened.
        local_size: of the uncoarsened launch, None where unknown.

    Returns:
        Empty where the kernel is one that can't be counted.
    """
    size = launch_size(kernel, local_size, dimension)
    used = max(used_dimensions(kernel), *(place for place, extent in enumerate(size, 1) if extent > 1), 1)
    first, second, third = map(max, ASSUMED_ITEMS[used], size)
    launch = LaunchSizes((first, second, third), size)
    found: dict[int, LaunchedWork] = {}
    with contextlib.suppress(CoarsenError):
        planned = PlannedKernel(kernel)
        for factor in FACTORS:
            variant = Variant(coarsenings=(Coarsening(factor, dimension),), transforms=REPLICATION_ALONE)
            if size[dimension] % factor == 0:
                found[factor] = planned.work(variant, launch), launched_sizes(variant, launch)
    return found
