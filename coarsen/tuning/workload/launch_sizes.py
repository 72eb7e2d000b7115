"""Sizes of a benchmark's launch, as predictions take them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.ir.kernel import Kernel
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize, ScalarArgument


def sizes_of_launch(
    benchmark: Benchmark, kernel: Kernel, preset: str, local_size: LocalSize
) -> tuple[LaunchSizes, Mapping[str, int]]:
    """Return the sizes of a benchmark's largest launch, and its whole scalar arguments by name.

    Raises:
        InvalidInputError: the local size is one that the algorithm can't use.
    """
    launch = max(benchmark.own_launches(preset, local_size), key=lambda each: np.prod(each.global_size))
    names = [argument.name for argument in kernel.arguments]
    scalars = {
        name: int(argument.value)
        for name, argument in zip(names, launch.arguments, strict=False)
        if isinstance(argument, ScalarArgument) and isinstance(argument.value, np.integer)
    }
    return LaunchSizes(padded(launch.global_size), padded(local_size)), scalars
