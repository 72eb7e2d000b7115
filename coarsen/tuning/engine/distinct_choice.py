"""Find the launches for which variants that take arguments as distinct are worth trying.

    the launch passes no buffer twice ─▶ other code can come of it ─▶ tried with it and without

Of most kernels the same code comes: nothing is loaded after a store, and no loop accumulates in memory.
"""

from __future__ import annotations

from dataclasses import replace

from coarsen.errors import CoarsenError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import for_distinct_memory
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.measure.variant_launch import buffer_passed_twice
from coarsen.tuning.workload.benchmark import Benchmark


def lowered_own(benchmark: Benchmark, macros: DeviceMacros) -> Kernel | None:
    """Return a benchmark's kernel with the first values of its macros; None where it can't be read."""
    try:
        return lower(benchmark.code, benchmark.kernel, benchmark.own_options, macros)
    except CoarsenError:
        return None


def with_distinct(space: Space, benchmark: Benchmark, preset: str, kernel: Kernel) -> Space:
    """Return a space in which arguments are taken as distinct, too, where that can change the code.

    Args:
        space: of the launch; as it is where nothing can be gained.
        benchmark: what is launched.
        preset: names the sizes.
        kernel: what is coarsened.

    Raises:
        InvalidInputError: no such preset.
    """
    if not (_are_apart(benchmark, preset) and gains_by_distinct(kernel)):
        return space
    return replace(space, transforms=replace(space.transforms, distinct=(False, True)))


def gains_by_distinct(kernel: Kernel) -> bool:
    """Return True if other code can come of distinct arguments; False of a kernel that can't be coarsened."""
    try:
        return for_distinct_memory(kernel)[1].gains
    except CoarsenError:
        return False


def _are_apart(benchmark: Benchmark, preset: str) -> bool:
    """Return True if no launch of the kernel passes a buffer twice."""
    launches = benchmark.launches(preset, benchmark.preset(preset).local_size, benchmark.own_definitions)
    return all(buffer_passed_twice(launch) is None for launch in launches if benchmark.coarsens(launch))
