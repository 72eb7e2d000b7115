"""`coarsen apply`: a kernel, coarsened, in the form asked for; or what coarsening does to it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coarsen.base.one_thread import load_numpy_in_one_thread
from coarsen.cli.apply.c_loops import explain_c_file, is_of_kernels, write_c_file
from coarsen.cli.apply.options import ApplyOptions, Form
from coarsen.cli.apply.report_text import write_explanations, write_reports
from coarsen.cli.apply.request import Request, launch_comment
from coarsen.cli.declared import takes
from coarsen.cli.kernel_input import lower_file, naming_file, with_file
from coarsen.cli.messages import note, raise_last
from coarsen.cli.options import parsed_size
from coarsen.cli.output import Format, counted, print_json, print_line, print_table, write_result
from coarsen.errors import InvalidInputError, RefusalError, printable
from coarsen.ir.added_arguments import described_arguments
from coarsen.loops import SUFFIX as C_SUFFIX
from coarsen.pipeline import CoarsenedKernel, Observer
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.options import COARSENING_OPTIONS, TRANSFORM_OPTIONS
from coarsen.variant.transforms import DeviceKind

# The version that every implementation builds a program for if none is named.
_DEFAULT_STANDARD = "-cl-std=CL1.2"

_SHORT_LOOP = (
    "a short loop in lock-step, which work-items leave at different times: Intel's CPU compiler gets some of these"
    " wrong, and --device-kind cpu avoids them"
)

_WRITERS: Mapping[Form, Callable[[CoarsenedKernel], str | bytes]] = MappingProxyType(
    {
        "cl": lambda coarsened: coarsened.opencl_c,
        "ll": lambda coarsened: coarsened.llvm_ir,
        "spv": lambda coarsened: coarsened.spirv,
        "ptx": lambda coarsened: coarsened.ptx(),
    }
)


@takes(ApplyOptions)
def apply(asked: ApplyOptions) -> None:
    """Coarsen a kernel, or explain the effect of coarsening it.

    The launch of a coarsened kernel divides its global and local size by the factor, along the dimension; where
    work-groups are merged, its global size alone. Repeat --factor and --dim to coarsen along several dimensions.
    Of a file with several kernels all are taken, unless -k names one: with -o FILE.cl each goes into a file of its
    own, FILE.KERNEL.cl. Of a C file the loops of a function are written as kernels first; with
    -o FOLDER/ with a C header that launches them.

    Example: coarsen apply sgemm.cl --factor 4 --dim 1 -o sgemm_4.cl

    Example: coarsen apply mv.cl --tuned mv.tuned.json -o generated

    Example: coarsen apply mm.c -o mm.cl
    """
    if asked.file.suffix == C_SUFFIX and not is_of_kernels(asked):
        (explain_c_file if asked.explain else write_c_file)(asked)
        return
    _check(asked)
    if asked.tuned is not None:
        _write_versions(asked.file, asked.tuned, asked.output)
        return
    if asked.features:
        _show_features(asked)
        return
    request = Request(asked, asked.kernel)
    observer = Observer(frozenset(asked.print_after or ()), show=_show)
    if asked.explain:
        refusals = write_explanations(request, observer, asked.output)
    elif asked.report:
        request.check()
        refusals = write_reports(
            request.for_each_kernel(), observer, asked.report_format or Format.TABLE, asked.output
        )
    else:
        request.check()
        refusals = _write_kernels(request.for_each_kernel(), observer, asked.emit or "cl", asked.output)
    if logging.getLogger("coarsen").isEnabledFor(logging.INFO):
        _show_times(observer)
    raise_last(refusals)


def _check(asked: ApplyOptions) -> None:
    """Raise InvalidInputError for options that do not go together, and for sizes that are none."""
    wanted = [f"--{name}" for name in ("explain", "report", "features", "tuned", "emit") if getattr(asked, name)]
    if len(wanted) > 1:
        raise InvalidInputError(f"give one of {' and '.join(wanted)}: each writes something else")
    if asked.report_format and not (asked.report or asked.features):
        raise InvalidInputError("--format goes with --report and --features")
    if asked.local_size and not (asked.report or asked.explain or asked.chosen["tile"].trips):
        raise InvalidInputError("--local-size goes with --tile, --explain and --report")
    parsed_size("--local-size", asked.local_size)


def _show_features(asked: ApplyOptions) -> None:
    """Show the 17 features of a kernel at each factor, without coarsening it.

    Raises:
        InvalidInputError: options that do not go together.
        RefusalError: the kernel can't be coarsened so, or has something that no analysis follows.
    """
    # Imported late: it loads NumPy.
    load_numpy_in_one_thread()
    from coarsen.features import feature_table

    along = _dimension(asked.chosen)
    lowered = lower_file(asked.file, asked.kernel, asked.build_options)
    with naming_file(asked.file):
        table = feature_table(lowered, along)
    columns = {str(factor): table.at(factor).by_name() for factor in table.factors}
    if asked.report_format is Format.JSON:
        print_json({"kernel": table.kernel, "dimension": table.dimension, "features": columns})
    else:
        print_line(f"kernel {table.kernel} along dimension {table.dimension}, by factor")
        print_line()
        names = next(iter(columns.values()))
        rows = [[name.replace("_", " "), *(f"{each[name]:.4g}" for each in columns.values())] for name in names]
        print_table(["feature", *columns], rows, numbers=[*columns])


def _dimension(chosen: Mapping[str, Any]) -> int:
    """The dimension of the features. Raises InvalidInputError for other options of a variant."""
    along = chosen["dimension"] or [0]
    options = {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS}
    given = [name for name, option in options.items() if chosen[name] not in (option.default, None, [])]
    if {*given} - {"dimension", "factor"} or chosen["factor"] or len(along) > 1:
        raise InvalidInputError("--features is of the kernel as it is: give no option of a variant but one --dim")
    return Coarsening(1, along[0]).dimension


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


def _write_kernels(
    requests: Sequence[Request], observer: Observer, emit: Form, output: Path | None
) -> list[RefusalError]:
    """Write each kernel: one to the output itself, several to files of their own, or one after another."""
    if len(requests) == 1:
        _write_kernel(requests[0], observer, emit, output)
        return []
    if output is None and emit == "spv":
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
    coarsened = request.coarsened(lowered, observer)
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
    if request.transforms.device_kind is DeviceKind.ANY and emit != "ptx":
        for place in dict.fromkeys(place for plan in coarsened.plans for place in plan.short_loops_in_lock_step()):
            note(with_file("".join((f"{place}: " if place else "", _SHORT_LOOP)), request.file))
    if output is not None and isinstance(content, str):
        mark = ";" if emit == "ll" else "//"
        # OpenCL C has the added arguments in a comment of its own.
        notes = (*kept_to, *coarsened.assumptions, *(() if emit == "cl" else added), *built)
        content = launch_comment(coarsened, notes, mark) + content
    write_result(content, output)


def _standard(coarsened: CoarsenedKernel, emit: Form) -> str:
    """The build option that an OpenCL driver needs for a form of the kernel; the default for other forms."""
    if emit == "cl":
        return coarsened.opencl_c_standard
    return coarsened.spirv_standard if emit == "spv" else _DEFAULT_STANDARD


def _show(text: str) -> None:
    sys.stderr.write(printable(text) + "\n")


def _show_times(observer: Observer) -> None:
    for stage, seconds in observer.seconds.items():
        _show(f"{stage:<10} {seconds * 1e3:8.1f} ms")
    _show(f"{'total':<10} {sum(observer.seconds.values()) * 1e3:8.1f} ms")
