"""`coarsen apply`: a kernel, coarsened, in the form asked for; or what coarsening does to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from coarsen.cli.apply_options import (
    AnySize,
    CleanUp,
    Device,
    Dimensions,
    Distinct,
    Emit,
    Explain,
    Factors,
    FastPath,
    Form,
    Kind,
    Layouts,
    Levels,
    LocalSize,
    LockStep,
    Orders,
    Output,
    Pads,
    Places,
    PrintAfter,
    Report,
    ReportFormat,
    Shapes,
    Strides,
    TimePasses,
    WideAccesses,
)
from coarsen.cli.apply_report import write_reports
from coarsen.cli.apply_request import Request
from coarsen.cli.explanation import ExplainedKernel, explained, print_explanations
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.launch_comment import launch_comment
from coarsen.cli.local_size import launch_place, parsed_local_size
from coarsen.cli.messages import note, say
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    IncludeFolders,
    KernelFile,
    KernelName,
    Standard,
    build_options,
)
from coarsen.cli.output import Format, write_result
from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.added_arguments import described_arguments
from coarsen.pipeline import Observer
from coarsen.printable import printable
from coarsen.variant.coarsening import Level, configuration_of
from coarsen.variant.data_plan import array_plans
from coarsen.variant.transforms import DeviceKind, Transforms, Use

# The number of merged work-items has no effect on which lines are divergent.
_ANY_FACTOR = 2

# The version that every implementation builds a program for if none is named.
_DEFAULT_STANDARD = "-cl-std=CL1.2"

_SHORT_LOOP = (
    "a short loop in lock-step, which work-items leave at different times: Intel's CPU compiler gets some of these"
    " wrong, and --device-kind cpu avoids them"
)

_WRITERS: Mapping[Form, Callable[[CoarsenedKernel], str | bytes]] = MappingProxyType(
    {
        Form.CL: lambda coarsened: coarsened.opencl_c,
        Form.LL: lambda coarsened: coarsened.llvm_ir,
        Form.SPV: lambda coarsened: coarsened.spirv,
        Form.PTX: lambda coarsened: coarsened.ptx(),
    }
)


def apply(
    file: KernelFile,
    kernel: KernelName = None,
    factor: Factors = None,
    dim: Dimensions = None,
    stride: Strides = None,
    level: Levels = None,
    device: Device = None,
    any_size: AnySize = False,
    fast_path: FastPath = Use.AUTO,
    lock_step: LockStep = Use.AUTO,
    wide_accesses: WideAccesses = False,
    clean_up: CleanUp = True,
    distinct: Distinct = False,
    device_kind: Kind = None,
    layout: Layouts = None,
    order: Orders = None,
    shape: Shapes = None,
    place: Places = None,
    pad: Pads = None,
    emit: Emit = None,
    output: Output = None,
    explain: Explain = False,
    report: Report = False,
    report_format: ReportFormat = None,
    local_size: LocalSize = None,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    print_after: PrintAfter = None,
    time_passes: TimePasses = False,
) -> None:
    """Coarsen a kernel, or explain the effect of coarsening it.

    The launch of a coarsened kernel divides its global and local size by the factor, along the dimension; where
    work-groups are merged, its global size alone. Of a file with several kernels all are taken, unless -k names
    one: with -o FILE.cl each goes into a file of its own, FILE.KERNEL.cl.

    Example: coarsen apply sgemm.cl --factor 4 --dim 1 -o sgemm_4.cl
    """
    _check_wanted(explain, report, report_format, emit)
    if local_size is not None and not report:
        raise InvalidInputError("--local-size goes with --report")
    options = build_options(define, include, cl_std, build_option)
    dimensions, levels = dim or [0], level or [Level.ITEM]
    arrays = array_plans(layout or (), order or (), shape or (), place or (), pad or ())
    if explain and arrays:
        raise InvalidInputError(
            "--explain marks the source as it is: give it without --layout, --order, --place and --pad"
        )
    request = Request(
        file,
        kernel,
        options,
        factor or [],
        device,
        dimensions,
        stride or [1],
        levels,
        any_size,
        Transforms(fast_path, lock_step, wide_accesses, clean_up, distinct=distinct),
        device_kind,
        launch_place(parsed_local_size(local_size)),
        arrays,
    )
    observer = Observer(frozenset(print_after or ()), show=_show)
    if not explain or request.factors:
        request.check()
    requests = request.for_each_kernel()
    if explain:
        refusals = _explain(requests, observer, output)
    elif report:
        refusals = write_reports(requests, observer, report_format or Format.TABLE, output)
    else:
        refusals = _write_kernels(requests, observer, emit or Form.CL, output)
    if time_passes:
        _show_times(observer)
    for refusal in refusals[:-1]:
        say("error", str(refusal))
    if refusals:
        raise refusals[-1]


def _check_wanted(explain: bool, report: bool, report_format: Format | None, emit: Form | None) -> None:
    if explain and report:
        raise InvalidInputError("give --explain or --report, but not both")
    if report_format is not None and not report:
        raise InvalidInputError("--format goes with --report")
    if emit is not None and (explain or report):
        raise InvalidInputError("--emit writes the kernel: give it without --explain and --report")


def _explain(requests: Sequence[Request], observer: Observer, output: Path | None) -> list[RefusalError]:
    """Explain kernels as they are written; where a factor is given, with what comes of each line."""
    found, refusals = [], []
    for request in requests:
        try:
            found.append(_explained(request, observer))
        except RefusalError as refusal:
            refusals.append(refusal)
    if found:
        print_explanations(found, output)
    return refusals


def _explained(request: Request, observer: Observer) -> ExplainedKernel:
    merged = configuration_of(_ANY_FACTOR, request.dimensions, level=request.levels)
    coarsened = request.coarsened(request.lowered(observer), observer).kernel if request.factors else None
    return explained(
        request.file,
        request.unit,
        request.kernel,
        merged,
        distinct=request.given.distinct,
        coarsened=coarsened,
        for_gpu=request.transforms.device_kind is DeviceKind.GPU,
    )


def _write_kernels(
    requests: Sequence[Request], observer: Observer, emit: Form, output: Path | None
) -> list[RefusalError]:
    """Write each kernel: one to the output itself, several to files of their own, or one after another."""
    if len(requests) == 1:
        _write_kernel(requests[0], observer, emit, output)
        return []
    if output is None and emit is Form.SPV:
        names = ", ".join(str(request.kernel) for request in requests)
        raise InvalidInputError(f"there are several kernels, choose one with -k, or -o FILE for all: {names}")
    if output is None:
        note("each kernel is a source of its own; -o FILE writes a file for each, -k NAME chooses one")
    elif output.exists() and not output.is_file():
        raise InvalidInputError(
            f"{output}: several kernels go into files of their own; -o names a file, or -k one kernel"
        )
    refusals = []
    for request in requests:
        path = None if output is None else output.with_name(f"{output.stem}.{request.kernel}{output.suffix}")
        try:
            _write_kernel(request, observer, emit, path)
        except RefusalError as refusal:
            refusals.append(refusal)
            continue
        if path is not None:
            note(f"wrote {path}")
    return refusals


def _write_kernel(request: Request, observer: Observer, emit: Form, output: Path | None) -> None:
    lowered = request.lowered(observer)
    coarsened = CoarsenedKernel.of(request.coarsened(lowered, observer))
    with naming_file(request.file), observer.stage("write"):
        content = _WRITERS[emit](coarsened)
    kept_to = [*lowered.sentences, *(each.sentence for each in request.pads(lowered.lowered))]
    if coarsened.distinct is not None and coarsened.distinct.note:
        kept_to.append(coarsened.distinct.note)
    added = [
        f"pass for the added argument {each.name}: {each.sentence}"
        for each in described_arguments(coarsened.kernel.argument_names, coarsened.kernel.added_arguments)
    ]
    standard = _standard(coarsened, emit)
    built = [f"build it with {standard}"] if standard != _DEFAULT_STANDARD else []
    assumed = [with_file(assumption, request.file) for assumption in coarsened.assumptions]
    for sentence in (*kept_to, *assumed, *added, *built):
        note(sentence)
    if request.transforms.device_kind is DeviceKind.ANY and emit is not Form.PTX:
        for place in dict.fromkeys(place for plan in coarsened.plans for place in plan.short_loops_in_lock_step()):
            note(with_file("".join((f"{place}: " if place else "", _SHORT_LOOP)), request.file))
    if output is not None and isinstance(content, str):
        mark = ";" if emit is Form.LL else "//"
        # OpenCL C has the added arguments in a comment of its own.
        notes = (*kept_to, *coarsened.assumptions, *(() if emit is Form.CL else added), *built)
        content = launch_comment(coarsened, notes, mark) + content
    write_result(content, output)


def _standard(coarsened: CoarsenedKernel, emit: Form) -> str:
    """The build option that an OpenCL driver needs for a form of the kernel; the default for other forms."""
    if emit is Form.CL:
        return coarsened.opencl_c_standard
    return coarsened.spirv_standard if emit is Form.SPV else _DEFAULT_STANDARD


def _show(text: str) -> None:
    sys.stderr.write(printable(text) + "\n")


def _show_times(observer: Observer) -> None:
    for stage, seconds in observer.seconds.items():
        _show(f"{stage:<10} {seconds * 1e3:8.1f} ms")
    _show(f"{'total':<10} {sum(observer.seconds.values()) * 1e3:8.1f} ms")
