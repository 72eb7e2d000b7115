"""The tuned file of a kernel that was tuned at one size with other layouts of its arrays.

the best variant as arrays are written  ─▶ versions, for every program
the best variant whose arrays lie otherwise, with its conversion ─▶ layouts, for coarsen.Program(arrays=…)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import LaidOutVersion, TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.distribution import __version__
from coarsen.frontend.lower import lower
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.ir.kernel import Argument
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.variant.variant import Variant

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
        layouts=_layouts(tuned),
    )


def is_of_one_size(file: TunedFile) -> bool:
    """Return True for a file that was tuned at one size, as `layouts_file` makes them: it has no times of inputs.

    Args:
        file: any tuned file.
    """
    return _GLOBAL_SIZE in file.evidence


def _layouts(tuned: Tuned) -> tuple[LaidOutVersion, ...]:
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
