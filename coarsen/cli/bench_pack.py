"""`coarsen bench pack`: a folder with compiled configurations, to be measured where the compiler isn't."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.bench_options import (
    ColdCache,
    FreeLaunch,
    Kernels,
    PresetName,
    Quick,
    Repetitions,
    Seed,
    Suite,
    Synthetic,
    SyntheticSeed,
    TimeoutMultiple,
    method_of,
)
from coarsen.cli.messages import note
from coarsen.cli.output import counted, print_line
from coarsen.cli.space_options import (
    AnySize,
    ArrayLayouts,
    ArrayOptions,
    ArrayOrders,
    ArrayPads,
    ArrayPlaces,
    ArrayShapes,
    AtOnce,
    CleanUp,
    Dimensions,
    Distinct,
    Factors,
    FastPath,
    Levels,
    LocalSizes,
    LockStep,
    MostMerged,
    Sample,
    SampleSeed,
    SpaceOptions,
    Strides,
    TransformOptions,
    Tried,
    Values,
    WideAccesses,
)
from coarsen.variant.coarsening import MOST_MERGED
from coarsen.variant.transforms import DeviceKind

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.pack.writing import PackSummary

KIBIBYTE = 1 << 10


class PackForm(enum.StrEnum):
    """The form of code that a device is given."""

    OPENCL_C = "opencl_c"
    SPIRV = "spirv"
    PTX = "ptx"


Folder = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to make.", show_default=False)
]
Forms = Annotated[
    list[PackForm] | None,
    typer.Option("--form", help="What a device is given. May be repeated.  [default: opencl_c]"),
]
WorkGroupSize = Annotated[
    int,
    typer.Option(
        "--max-work-group-size", metavar="NUMBER", min=1, help="Most work-items of a work-group on the device."
    ),
]
Kind = Annotated[DeviceKind, typer.Option("--device-kind", help="What the pack is to run on.")]
LocalMemory = Annotated[
    int, typer.Option("--local-memory", metavar="KIB", min=1, help="Local memory of the device, in KiB.")
]


def pack(
    output: Folder,
    kernels: Kernels = None,
    suite: Suite = None,
    synthetic: Synthetic = None,
    synthetic_seed: SyntheticSeed = None,
    free_launch: FreeLaunch = None,
    preset: PresetName = "gpu",
    seed: Seed = 0,
    factors: Factors = None,
    strides: Strides = None,
    dims: Dimensions = None,
    local_sizes: LocalSizes = None,
    define: Values = None,
    levels: Levels = "item",
    at_once: AtOnce = 1,
    most_merged: MostMerged = MOST_MERGED,
    wide_accesses: WideAccesses = Tried.NO,
    fast_path: FastPath = "auto",
    lock_step: LockStep = "auto",
    clean_up: CleanUp = Tried.YES,
    any_size: AnySize = Tried.NO,
    layout: ArrayLayouts = None,
    order: ArrayOrders = None,
    array_place: ArrayPlaces = None,
    array_pad: ArrayPads = None,
    array_shape: ArrayShapes = None,
    distinct: Distinct = Tried.NO,
    sample: Sample = None,
    sample_seed: SampleSeed = 0,
    device_kind: Kind = DeviceKind.ANY,
    form: Forms = None,
    repetitions: Repetitions = None,
    quick: Quick = False,
    cold_cache: ColdCache = False,
    timeout_multiple: TimeoutMultiple = None,
    max_work_group_size: WorkGroupSize = 1024,
    local_memory: LocalMemory = 48,
) -> None:
    """Write a folder that measures kernels on a machine without coarsen's compilers.

    It holds the kernel's code for every configuration; inputs are made there. That machine needs Python, NumPy,
    PyOpenCL (or cuda-bindings, for --form ptx) and coarsen itself: python -m coarsen.opencl_bench.run_pack DIR
    writes a file for `coarsen results import`.

    Example: coarsen bench pack sgemm mt --form opencl_c --form ptx -o for_the_gpu
    """
    from coarsen.cli.bench_inputs import benchmarks_of
    from coarsen.opencl_bench.sweep.pack.writing import USUAL_LIMITS, PackPart, PackRequest, write_pack

    transforms = TransformOptions(fast_path, lock_step, wide_accesses, clean_up, any_size, distinct)
    wanted = SpaceOptions.parsed(
        factors,
        strides,
        dims,
        local_sizes,
        define,
        levels,
        at_once,
        most_merged,
        transforms,
        sample,
        sample_seed,
        ArrayOptions.given(layout, order, array_place, array_pad, array_shape),
    )
    benchmarks = benchmarks_of(kernels, synthetic, synthetic_seed, suite, free_launch)
    limits = replace(USUAL_LIMITS, max_work_group_size=max_work_group_size, local_memory=local_memory * KIBIBYTE)
    request = PackRequest(
        parts=tuple(PackPart(name, preset, wanted.of(benchmark, preset)) for benchmark, name in benchmarks),
        forms=tuple(chosen.value for chosen in form or [PackForm.OPENCL_C]),
        seed=seed,
        method=method_of(quick, repetitions, cold_cache, timeout_multiple),
        limits=limits,
        device_kind=device_kind,
    )
    _say(write_pack(request, output, lambda line: note(f"compiling {line}")), output)


def _say(summary: PackSummary, folder: Path) -> None:
    for reason in summary.left_out:
        note(f"left out: {reason}")
    candidates = [candidate for sweep in summary.sweeps for candidate in sweep.candidates]
    failed = sum(bool(candidate.failure) for candidate in candidates)
    print_line(
        f"{folder}: {counted(len(summary.sweeps), 'sweep')}, {counted(len(candidates), 'configuration')} "
        f"({failed} of them not to be run), {counted(summary.codes, 'kernel')}, {summary.byte_count / 1e6:.1f} MB"
    )
    print_line(f"Run it there: python -m coarsen.opencl_bench.run_pack {folder.name}")
