"""Layouts of a kernel's arrays: those that tuning tries where nobody names any, the best of them, and their file.

arguments ─▶ arrays of records that can be rewritten ─▶ structure of arrays, tiles
          ─▶ the rest stays as it is written
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.base.names import did_you_mean
from coarsen.base.version import __version__
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import LaidOutVersion, TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import hash_with_headers
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.pipeline import laid_out
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.data_layout import DEEP_SOA, SOA, ArrayLayout, Kind
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.space import ArrayChoices
from coarsen.variant.variant import Variant

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


# The tuned file of a kernel that was tuned at one size with other layouts of its arrays.
#
# the best variant as arrays are written  ─▶ versions, for every program
# the best variant whose arrays lie otherwise, with its conversion ─▶ layouts, for coarsen.Program(arrays=…)

# What the evidence of such a file has, and none of those tuned over inputs.
_GLOBAL_SIZE = "global_size"


def layouts_file(
    tuned: Tuned, benchmark: Benchmark, options: tuple[str, ...], device: DeviceDescription
) -> TunedFile:
    """Return the tuned file of what was found.

    Args:
        tuned: what was found.
        benchmark: what was tuned.
        options: the build options of its program, its macros among them.
        device: where it was tuned.

    Raises:
        InvalidInputError, RefusalError: the kernel is not what it was.
    """
    kernel = lower(benchmark.code, benchmark.kernel, options, device.macros)
    folder = benchmark.code.parent if isinstance(benchmark.code, Path) else None
    variants = dict.fromkeys((Variant(), _of_program(tuned, tuned.choice)))
    return TunedFile(
        kernel=tuned.kernel,
        arguments=tuple(KernelArgument(each.name, _kind(each)) for each in kernel.arguments),
        source_hash=hash_with_headers(benchmark.source, options, folder),
        device=device.name.strip(),
        driver=device.driver_version.strip(),
        build_options=options,
        coarsen_version=__version__,
        features=(),
        versions=tuple(map(TunedVersion, variants)),
        default=0,
        tree=Leaf(len(variants) - 1),
        evidence={_GLOBAL_SIZE: [*tuned.global_size], "speedup": tuned.speedup.ratio},
        layouts=_layouts_of(tuned),
    )


def is_of_one_size(file: TunedFile) -> bool:
    """Return True for a file that was tuned at one size, as `layouts_file` makes them: it has no times of inputs.

    Args:
        file: any tuned file.
    """
    return _GLOBAL_SIZE in file.evidence


def _layouts_of(tuned: Tuned) -> tuple[LaidOutVersion, ...]:
    found = tuned.laid_out
    if found is None:
        return ()
    conversion = found.conversion
    variant = _of_program(tuned, found.variant)
    return (LaidOutVersion(variant, found.speedup.ratio, conversion.seconds, conversion.runs),)


def _of_program(tuned: Tuned, variant: Variant) -> Variant:
    """The variant of a program that has the macros, and launches with the local size that was tuned at."""
    own = tuned.local_size or ()
    return replace(variant, definitions=(), local_size=() if variant.local_size == own else variant.local_size)


def _kind(argument: Argument) -> ArgumentKind:
    if not isinstance(argument.type, PointerType):
        return ArgumentKind.OTHER
    if argument.type.address_space is AddressSpace.LOCAL:
        return ArgumentKind.LOCAL
    return ArgumentKind.BUFFER
