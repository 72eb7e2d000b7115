"""Find the launches for which variants that take arguments as distinct are worth trying.

    the launch passes no buffer twice ─▶ other code can come of it ─▶ tried with it and without

Of most kernels the same code comes: nothing is loaded after a store, and no loop accumulates in memory.
"""

from __future__ import annotations

from dataclasses import replace

from coarsen.errors import CoarsenError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.measure.variant_launch import buffer_passed_twice
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.pipeline import for_distinct_memory


def with_distinct(space: Space, benchmark: Benchmark, preset: str, macros: DeviceMacros) -> Space:
    """Return a space in which arguments are taken as distinct, too, where that can change the code.

    Args:
        space: of the launch; as it is where nothing can be gained.
        benchmark: what is launched.
        preset: names the sizes.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: no such preset.
    """
    if not (_are_apart(benchmark, preset) and gains_by_distinct(benchmark, macros)):
        return space
    return replace(space, transforms=replace(space.transforms, distinct=(False, True)))


def gains_by_distinct(benchmark: Benchmark, macros: DeviceMacros) -> bool:
    """Return True if other code can come of distinct arguments; False of a kernel that can't be read."""
    try:
        _, found = for_distinct_memory(lower(benchmark.code, benchmark.kernel, benchmark.own_options, macros))
    except CoarsenError:
        return False
    return found.gains


def _are_apart(benchmark: Benchmark, preset: str) -> bool:
    """Return True if no launch of the kernel passes a buffer twice."""
    launches = benchmark.launches(preset, benchmark.preset(preset).local_size, benchmark.own_definitions)
    return all(buffer_passed_twice(launch) is None for launch in launches if benchmark.coarsens(launch))
