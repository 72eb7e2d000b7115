"""Find the layouts of a kernel's arrays that tuning tries where nobody names any.

arguments ─▶ arrays of records that can be rewritten ─▶ structure of arrays, tiles
          ─▶ the rest stays as it is written
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.pipeline import laid_out
from coarsen.variant.data_layout import DEEP_SOA, SOA, ArrayLayout, Kind
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.space import ArrayChoices

# A vector of most CPUs' floats, half of a sub-group of most GPUs.
TILE = 16
LAYOUTS = (SOA, ArrayLayout(Kind.AOSOA, TILE))


@dataclass(frozen=True, slots=True)
class FoundLayouts:
    """How arrays may lie, and how they may not.

    Attributes:
        choices: of each array that may lie otherwise.
        refused: in words, the layouts that an array of records can't have, and why.
    """

    choices: tuple[ArrayChoices, ...]
    refused: tuple[str, ...] = ()


def layout_choices(benchmark: Benchmark, macros: DeviceMacros) -> FoundLayouts:
    """Return how arrays may lie: as the benchmark says, and other arrays of records by themselves or in tiles.

    Args:
        benchmark: what is launched.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError, RefusalError: the kernel can't be read.
    """
    kernel = _lowered(benchmark, macros)
    named = {choices.argument for choices in benchmark.arrays}
    found, refused = list(benchmark.arrays), list[str]()
    for argument in kernel.arguments:
        if argument.name not in named:
            layouts = _layouts(kernel, argument.name, refused)
            found += [ArrayChoices(argument.name, layouts)] if layouts else []
    return FoundLayouts(tuple(found), tuple(refused))


def check_choices(benchmark: Benchmark, named: Sequence[ArrayChoices], macros: DeviceMacros) -> None:
    """Raise an error for choices that no variant of a kernel can have.

    Args:
        benchmark: what is launched.
        named: of its arrays.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: there is no such argument, or it is no array that could lie otherwise.
        RefusalError: the kernel can't be read, or not be rewritten for one of the layouts or orders.
    """
    if not named:
        return
    kernel = _lowered(benchmark, macros)
    for plan in itertools.chain.from_iterable(choices.changes() for choices in named):
        laid_out(kernel, [plan])


def check_arguments(benchmark: Benchmark, named: Iterable[str]) -> None:
    """Raise InvalidInputError unless a benchmark's kernel has arguments of these names."""
    wanted = [*named]
    if not wanted:
        return
    own = [argument.name for argument in _lowered(benchmark, PORTABLE).arguments]
    for name in wanted:
        if name not in own:
            raise InvalidInputError(
                f"{benchmark.name}: its kernel has no argument '{name}'{did_you_mean(name, own)}; it has "
                f"{', '.join(own)}"
            )


def _lowered(benchmark: Benchmark, macros: DeviceMacros) -> Kernel:
    return lower(benchmark.code, benchmark.kernel, benchmark.own_options, macros)


def _layouts(kernel: Kernel, argument: str, refused: list[str]) -> tuple[ArrayLayout, ...]:
    """Return the layouts of an array of records with several fields; none of anything else."""
    whole = _fields(kernel, argument, SOA, refused)
    if not whole:
        return ()
    layouts = LAYOUTS if whole > 1 else ()
    return (*layouts, DEEP_SOA) if _fields(kernel, argument, DEEP_SOA, refused) > whole else layouts


def _fields(kernel: Kernel, argument: str, layout: ArrayLayout, refused: list[str]) -> int:
    """Return the number of fields that lie apart in a layout; 0 where the array can't have it."""
    try:
        made = laid_out(kernel, [ArrayPlan(argument, layout)])
    except InvalidInputError:
        # It is no array, or none of known elements that the kernel looks at.
        return 0
    except RefusalError as refusal:
        refused.append(f"{argument} as {layout} is not tried: {refusal}")
        return 0
    return max((len(each.arrangement.record.fields) for each in made.arrays), default=0)
