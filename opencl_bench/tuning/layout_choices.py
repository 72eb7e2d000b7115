"""Find the layouts of a kernel's arrays that tuning tries where nobody names any.

arguments ─▶ arrays of records that can be rewritten ─▶ structure of arrays, tiles
          ─▶ the rest stays as it is written
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.sweep.compile_service import build_options
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.pipeline import laid_out
from coarsen.variant.data_layout import DEEP_SOA, SOA, ArrayLayout, Kind
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.space import ArrayChoices

# A vector of most CPUs' floats, half of a sub-group of most GPUs.
TILE = 16
LAYOUTS = (SOA, ArrayLayout(Kind.AOSOA, TILE))


def layout_choices(benchmark: Benchmark, macros: DeviceMacros) -> tuple[ArrayChoices, ...]:
    """Return how arrays may lie: as the benchmark says, and other arrays of records by themselves or in tiles.

    Args:
        benchmark: what is launched.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError, RefusalError: the kernel can't be read.
    """
    named = {choices.argument for choices in benchmark.arrays}
    options = build_options(benchmark, benchmark.own_definitions)
    kernel = lower(benchmark.code, benchmark.kernel, options, macros)
    found = tuple(choices for choices in _records(kernel) if choices.argument not in named)
    return (*benchmark.arrays, *found)


def check_names(benchmark: Benchmark, named: Sequence[ArrayChoices]) -> None:
    """Raise InvalidInputError for choices of an array that is no argument of the kernel."""
    if not named:
        return
    kernel = lower(benchmark.code, benchmark.kernel, build_options(benchmark, benchmark.own_definitions))
    known = {argument.name for argument in kernel.arguments}
    for choices in named:
        if choices.argument not in known:
            hint = did_you_mean(choices.argument, known)
            raise InvalidInputError(f"the kernel {kernel.name} has no argument {choices.argument}{hint}")


def _records(kernel: Kernel) -> Iterator[ArrayChoices]:
    """Yield how arrays of records of several fields may lie, those that can be rewritten."""
    for argument in kernel.arguments:
        layouts = LAYOUTS if _fields(kernel, argument.name, SOA) > 1 else ()
        if _fields(kernel, argument.name, DEEP_SOA) > max(1, _fields(kernel, argument.name, SOA)):
            layouts = (*layouts, DEEP_SOA)
        if layouts:
            yield ArrayChoices(argument.name, layouts)


def _fields(kernel: Kernel, argument: str, layout: ArrayLayout) -> int:
    """The number of fields that lie apart in a layout; 0 where the array can't have it."""
    try:
        made = laid_out(kernel, [ArrayPlan(argument, layout)])
    except CoarsenError:
        return 0
    return max((len(each.arrangement.record.fields) for each in made.arrays), default=0)
