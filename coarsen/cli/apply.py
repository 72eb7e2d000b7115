"""`coarsen apply`: a kernel, coarsened, in the form asked for; or what coarsening does to each line."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from coarsen import api
from coarsen.cli.explanation import print_explanation
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.messages import note
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    IncludeFolders,
    KernelFile,
    KernelName,
    Standard,
    build_options,
    whole_number,
)
from coarsen.cli.output import write_result
from coarsen.errors import InvalidInputError
from coarsen.pipeline import Observer


class Form(enum.StrEnum):
    """What can be written: OpenCL C, LLVM IR, SPIR-V, PTX."""

    CL = "cl"
    LL = "ll"
    SPV = "spv"
    PTX = "ptx"


class Stage(enum.StrEnum):
    """The stages of the pipeline after which there is IR to show."""

    LOWER = "lower"
    REPLICATE = "replicate"
    NORMALISE = "normalise"


_WRITERS: dict[Form, Callable[[api.CoarsenedKernel], str | bytes]] = {
    Form.CL: lambda coarsened: coarsened.opencl_c,
    Form.LL: lambda coarsened: coarsened.llvm_ir,
    Form.SPV: lambda coarsened: coarsened.spirv,
    Form.PTX: lambda coarsened: coarsened.ptx(),
}

Factors = Annotated[
    list[int] | None,
    typer.Option(
        "--factor",
        metavar="FACTOR",
        help="How many work-items become one. Repeat it, and --dim, for several dimensions.",
        parser=whole_number,
    ),
]
Dimensions = Annotated[
    list[int] | None,
    typer.Option(
        "--dim",
        metavar="DIMENSION",
        help="The dimension of the NDRange: 0, 1 or 2.  [default: 0]",
        parser=whole_number,
    ),
]
Strides = Annotated[
    list[int] | None,
    typer.Option(
        "--stride",
        metavar="STRIDE",
        help="How far apart the merged work-items stand.  [default: 1]",
        parser=whole_number,
    ),
]
Device = Annotated[
    str | None,
    typer.Option("-d", "--device", metavar="NAME", help="Take the factor predicted for this device."),
]
Emit = Annotated[Form, typer.Option("--emit", help="Write OpenCL C, LLVM IR, SPIR-V or PTX.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to standard output.")
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Mark the divergent lines and regions of the source instead.")
]
PrintAfter = Annotated[
    list[Stage] | None,
    typer.Option(
        "--print-after",
        metavar="STAGE",
        help="Show the IR after lower, replicate or normalise. May be repeated.",
    ),
]
TimePasses = Annotated[bool, typer.Option("--time-passes", help="Show how long each stage took.")]


def apply(
    file: KernelFile,
    kernel: KernelName = None,
    factor: Factors = None,
    dim: Dimensions = None,
    stride: Strides = None,
    device: Device = None,
    emit: Emit = Form.CL,
    output: Output = None,
    explain: Explain = False,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    print_after: PrintAfter = None,
    time_passes: TimePasses = False,
) -> None:
    """Write a kernel coarsened, or explain what coarsening does to it.

    The launch of a coarsened kernel divides its global and local size by the factor, along the dimension.

    Example: coarsen apply sgemm.cl --factor 4 --dim 1 -o sgemm_4.cl
    """
    options = build_options(define, include, cl_std, build_option)
    dimensions = dim or [0]
    if explain:
        print_explanation(file, kernel, options, dimensions, output)
        return
    factors = _factors(factor, device, file, kernel, options, dimensions)
    observer = Observer(frozenset(print_after or ()), show=_show)
    with naming_file(file):
        coarsened = api.coarsen(
            file,
            kernel=kernel,
            factor=factors,
            dim=dimensions,
            stride=stride or [1],
            options=options,
            observer=observer,
        )
        with observer.stage("write"):
            content = _WRITERS[emit](coarsened)
    for assumption in coarsened.assumptions:
        note(with_file(assumption, file))
    write_result(content, output)
    if time_passes:
        _show_times(observer)


def _factors(
    factors: list[int] | None,
    device: str | None,
    file: Path,
    kernel: str | None,
    options: str,
    dimensions: Sequence[int],
) -> list[int]:
    """The factors that were given, or the one that is predicted for the device."""
    if factors and device is None:
        return factors
    if factors:
        raise InvalidInputError("give --factor, or --device to have the factor predicted, but not both")
    if device is None:
        raise InvalidInputError("give --factor, or --device to have the factor predicted")
    if len(dimensions) > 1:
        raise InvalidInputError("a factor is predicted along one dimension; give --dim once")
    with naming_file(file):
        predicted = api.predict(file, device=device, kernel=kernel, dim=dimensions[0], options=options)
    for caution in filter(None, (predicted.reason, predicted.device_note)):
        note(caution)
    note(f"predicted factor {predicted.factor} along dimension {dimensions[0]} for {device}")
    return [predicted.factor]


def _show(text: str) -> None:
    sys.stderr.write(text + "\n")


def _show_times(observer: Observer) -> None:
    for stage, seconds in observer.seconds.items():
        _show(f"{stage:<10} {seconds * 1e3:8.1f} ms")
    _show(f"{'total':<10} {sum(observer.seconds.values()) * 1e3:8.1f} ms")
