"""`coarsen apply`: a kernel, coarsened, in the form asked for; or what coarsening does to it."""

from __future__ import annotations

import enum
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from coarsen.cli.apply.report_text import ExplainedKernel, explained, print_explanations, write_reports
from coarsen.cli.apply.request import Request, launch_comment
from coarsen.cli.kernel_input import naming_file, with_file
from coarsen.cli.messages import note, say
from coarsen.cli.options import (
    BuildOptions,
    Definitions,
    IncludeFolders,
    KernelFile,
    KernelName,
    Standard,
    build_options,
    launch_place,
    parsed_local_size,
)
from coarsen.cli.output import Format, counted, print_line, write_result
from coarsen.cli.variant_options import ARRAYS, EVERY, variant_options
from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import InvalidInputError, RefusalError, printable
from coarsen.ir.added_arguments import described_arguments
from coarsen.pipeline import Observer
from coarsen.variant.coarsening import Coarsening, Level, configuration_of
from coarsen.variant.data_plan import array_plans
from coarsen.variant.options import COARSENING_OPTIONS, TRANSFORM_OPTIONS, variant_of
from coarsen.variant.transforms import DeviceKind, Transforms


class Form(enum.StrEnum):
    """The forms that can be written: OpenCL C, LLVM IR, SPIR-V, PTX."""

    CL = "cl"
    LL = "ll"
    SPV = "spv"
    PTX = "ptx"


class Stage(enum.StrEnum):
    """The stages of the pipeline after which there is IR to show."""

    LOWER = "lower"
    LAYOUT = "layout"
    GUARD = "guard"
    REPLICATE = "replicate"
    NORMALISE = "normalise"
    WIDEN = "widen"


Device = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="Take the factor predicted for this device; choose the transforms for its kind.",
    ),
]

Kind = Annotated[
    DeviceKind | None,
    typer.Option("--device-kind", help="What the kernel is to run on.  [default: that of --device, else any]"),
]

# What to write.

Emit = Annotated[
    Form | None, typer.Option("--emit", help="Write OpenCL C, LLVM IR, SPIR-V or PTX.  [default: cl]")
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to standard output.")
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Mark divergent lines and regions, with --factor what comes of them, instead.",
    ),
]
Report = Annotated[
    bool,
    typer.Option("--report", help="Say instead what was done to each divergent region, and what accesses cost."),
]
LocalSize = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="The original launch's local size, 64 or 16x16; with --report and --features.",
    ),
]
ReportFormat = Annotated[
    Format | None,
    typer.Option("-f", "--format", help="Of --report and --features: a table, or JSON.  [default: table]"),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="KIND,...",
        help="Show instead the static features of the kernel at each factor: paper (the 17 of PACT'14), and with "
        "them work (loops, instructions and accesses as functions of the sizes), registers:CHIP.",
    ),
]
GlobalSize = Annotated[
    str | None,
    typer.Option("--global-size", metavar="SIZE", help="The launch's global size, 512x512; for --features work."),
]
ArgumentSizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size", metavar="NAME=NUMBER", help="A whole argument of the launch; for --features work. Repeatable."
    ),
]
TunedVersions = Annotated[
    Path | None,
    typer.Option(
        "--tuned",
        metavar="FILE.tuned.json",
        help="Write instead the versions that the tuned file of this kernel has, and a C header that chooses "
        "between them, into the folder of -o.",
    ),
]
PrintAfter = Annotated[
    list[Stage] | None,
    typer.Option(
        "--print-after",
        metavar="STAGE",
        help="Show the IR after lower, layout, guard, replicate, normalise or widen. May be repeated.",
    ),
]


# The number of merged work-items has no effect on which lines are divergent.
_ANY_FACTOR = 2

_FEATURES = ("paper", "work")
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


@variant_options(*EVERY)
def apply(
    file: KernelFile,
    chosen: Mapping[str, Any],
    kernel: KernelName = None,
    device: Device = None,
    device_kind: Kind = None,
    emit: Emit = None,
    output: Output = None,
    explain: Explain = False,
    report: Report = False,
    features: Features = None,
    tuned: TunedVersions = None,
    report_format: ReportFormat = None,
    local_size: LocalSize = None,
    global_size: GlobalSize = None,
    size: ArgumentSizes = None,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
    print_after: PrintAfter = None,
) -> None:
    """Coarsen a kernel, or explain the effect of coarsening it.

    The launch of a coarsened kernel divides its global and local size by the factor, along the dimension; where
    work-groups are merged, its global size alone. Repeat --factor and --dim to coarsen along several dimensions.
    Of a file with several kernels all are taken, unless -k names one: with -o FILE.cl each goes into a file of its
    own, FILE.KERNEL.cl.

    Example: coarsen apply sgemm.cl --factor 4 --dim 1 -o sgemm_4.cl

    Example: coarsen apply sgemm.cl --features work --global-size 512x512 --factor 4

    Example: coarsen apply mv.cl --tuned mv.tuned.json -o generated
    """
    _check_wanted(
        {"--explain": explain, "--report": report, "--features": features, "--tuned": tuned, "--emit": emit}
    )
    if report_format is not None and not report and features is None:
        raise InvalidInputError("--format goes with --report and --features")
    if local_size is not None and not report and features is None:
        raise InvalidInputError("--local-size goes with --report and --features")
    if features is None and (global_size is not None or size):
        raise InvalidInputError(f"{'--size' if size else '--global-size'} goes with --features work")
    if tuned is not None:
        _write_versions(file, tuned, output)
        return
    if features is not None:
        build = {"define": define, "include": include, "cl_std": cl_std, "build_option": build_option}
        launch = {"local_size": local_size, "global_size": global_size, "size": size}
        _show_features(features, chosen, report_format, file=file, kernel=kernel, **build, **launch)
        return
    options = build_options(define, include, cl_std, build_option)
    arrays = array_plans(*(chosen[name] or () for name in ARRAYS))
    if explain and arrays:
        raise InvalidInputError(
            "--explain marks the source as it is: give it without --layout, --order, --place and --pad"
        )
    request = Request(
        file,
        kernel,
        options,
        chosen["factor"] or [],
        device,
        chosen["dimension"] or [0],
        chosen["stride"] or [1],
        chosen["level"] or [Level.ITEM],
        chosen["any_size"],
        Transforms(**{name: chosen[name] for name in TRANSFORM_OPTIONS if name != "any_size"}),
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
    if logging.getLogger("coarsen").isEnabledFor(logging.INFO):
        _show_times(observer)
    for refusal in refusals[:-1]:
        say("error", str(refusal))
    if refusals:
        raise refusals[-1]


def _check_wanted(given: Mapping[str, object]) -> None:
    """Raise InvalidInputError where several of the options are given that say what is written."""
    wanted = [name for name, value in given.items() if value]
    if len(wanted) > 1:
        raise InvalidInputError(f"give one of {' and '.join(wanted)}: each writes something else")


def _show_features(
    kinds: str,
    chosen: Mapping[str, Any],
    output_format: Format | None,
    **given: Any,  # noqa: ANN401 (the kernel and its launch, as they were given)
) -> None:
    """Show the features of a kernel. Raises InvalidInputError for a kind that is none."""
    # Imported late: they load the models.
    from coarsen.cli.apply.features import features

    words = [word.strip() for word in kinds.split(",")]
    chips = [word.partition(":")[2] for word in words if word.startswith("registers:")]
    unknown = [word for word in words if word not in _FEATURES and not word.startswith("registers:")]
    if unknown or len(chips) > 1 or "" in chips:
        raise InvalidInputError(f"--features takes {', '.join(_FEATURES)} and registers:CHIP, not '{kinds}'")
    several = [name for name in COARSENING_OPTIONS if len(chosen[name] or ()) > 1]
    if several:
        raise InvalidInputError(f"--features takes --{COARSENING_OPTIONS[several[0]].name} once")
    one = {name: values[0] for name in COARSENING_OPTIONS if (values := chosen[name])}
    others = {name: chosen[name] for name in TRANSFORM_OPTIONS}
    asked = None
    if "factor" in one:
        asked = variant_of((Coarsening(**one),), (), **others)
    elif {*one} - {"dimension"} or others != {name: each.default for name, each in TRANSFORM_OPTIONS.items()}:
        raise InvalidInputError("--stride, --level and transforms go with --factor")
    features(
        **given,
        dim=one.get("dimension", 0),
        registers=chips[0] if chips else None,
        work="work" in words,
        asked=asked,
        output_format=output_format or Format.TABLE,
    )


def _write_versions(file: Path, tuned: Path, folder: Path | None) -> None:
    """Write the versions of a tuned file as sources, with a C header that chooses between them."""
    # Imported late: they load NumPy and clang.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.exported import exported_files

    if folder is None:
        raise InvalidInputError("--tuned writes several files: name their folder with -o")
    found = TunedFile.read(tuned)
    made = [*exported_files(found, file)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made:
        write_result(text, folder / name)
    if found.build_options:
        options = " ".join(found.build_options)
        note(f"compiled with the tuned file's build options, which the sources name: {options}")
    print_line(f"wrote {folder / made[0][0]} and {counted(len(made) - 1, 'version')} beside it")


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
