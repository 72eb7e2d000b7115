"""The work of a kernel's really coarsened forms, for the models that reckon with it.

The sizes of the launches that were measured are not in the data. A launch of about a million work-items stands for
them, spread evenly over the dimensions of the local size.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.errors import CoarsenError
from coarsen.features import FACTORS
from coarsen.features.count_work import work_counts
from coarsen.features.launch_size import launch_size, used_dimensions
from coarsen.features.work_counts import LaunchSizes, Sizes
from coarsen.ir.kernel import Kernel
from coarsen.models.examples import LaunchedWork
from coarsen.pipeline import carry_out
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from coarsen.variant.variant import Variant

# Powers of two, as every local size of the suite is, and about 2²⁰ in all.
ASSUMED_ITEMS: Mapping[int, Sizes] = {1: (1 << 20, 1, 1), 2: (1 << 10, 1 << 10, 1), 3: (1 << 7, 1 << 7, 1 << 6)}


def work_by_factor(
    kernel: Kernel, dimension: int, local_size: tuple[int, ...] | None
) -> Mapping[int, LaunchedWork]:
    """The work of a kernel at each factor that divides the local size, by replication alone.

    Args:
        kernel: as it was lowered.
        dimension: of the NDRange, along which it is coarsened.
        local_size: of the uncoarsened launch, None where unknown.

    Returns:
        Empty where the kernel is one that can't be counted; without the factors that can't be.
    """
    size = launch_size(kernel, local_size, dimension)
    used = max(used_dimensions(kernel), *(place for place, extent in enumerate(size, 1) if extent > 1), 1)
    found: dict[int, LaunchedWork] = {}
    for factor in FACTORS:
        if size[dimension] % factor:
            continue
        launch = LaunchSizes(
            _divided(tuple(map(max, ASSUMED_ITEMS[used], size)), dimension, factor),
            _divided(size, dimension, factor),
        )
        try:
            found[factor] = work_counts(_coarsened(kernel, dimension, factor), launch), launch
        except CoarsenError:
            continue
    return found


def _coarsened(kernel: Kernel, dimension: int, factor: int) -> Kernel:
    if factor == 1:
        return kernel
    return carry_out(
        kernel, Variant(coarsenings=(Coarsening(factor, dimension),), transforms=REPLICATION_ALONE)
    ).kernel


def _divided(sizes: tuple[int, ...], dimension: int, factor: int) -> Sizes:
    first, second, third = (size // factor if place == dimension else size for place, size in enumerate(sizes))
    return first, second, third
