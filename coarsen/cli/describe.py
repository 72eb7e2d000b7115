"""`coarsen describe`: the file by which a kernel is measured and tuned, written from the kernel's parameters."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.declared import option, takes
from coarsen.cli.kernel_input import is_ir_file, naming_file
from coarsen.cli.options import SourceOptions, build_options, file_argument, kernel_option
from coarsen.cli.output import print_line, write_result
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import read_annotations, source_without_pragmas
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.loops import SUFFIX as C_SUFFIX

# Devices differ in their default.
DEFAULT_STANDARD = "CL1.2"


@dataclass(frozen=True, kw_only=True)
class DescribeOptions(SourceOptions):
    """The options of `coarsen describe`."""

    kernel_file: Path = file_argument()
    kernel: str | None = kernel_option()
    output: Path | None = option(
        "Write there.  [default: beside the kernel, as KERNEL.toml]", "FILE.toml", "-o --output"
    )
    force: bool = option("Overwrite the file if it is there.", default=False)
    inputs: bool = option("Declare features of a launch and ranges of sizes, to tune over inputs.", default=False)


@takes(DescribeOptions)
def describe(asked: DescribeOptions) -> None:
    """Describe a kernel's arguments in a file, for coarsen tune and coarsen bench.

    The file gives the contents and size of each argument; what the parameters leave open is guessed and marked
    CHECK. A macro that -D gives a value becomes a tunable, for which a sweep can try several. Of a file with
    several kernels each gets a description, FILE.KERNEL.toml, unless -k names one.

    Example: coarsen describe scale.cl -o scale.toml
    """
    for path in _written(asked):
        print_line(f"wrote {path}; complete the lines marked CHECK, then run: coarsen tune {path}")


def _written(asked: DescribeOptions) -> list[Path]:
    """Write the description of a kernel, or of each kernel of a file; return their paths.

    Raises:
        InvalidInputError: a file is there already, or a kernel has no description; nothing has been written then.
        RefusalError: a kernel calls itself; likewise.
    """
    kernel_file, kernel, force = asked.kernel_file, asked.kernel, asked.force
    if is_ir_file(kernel_file):
        raise InvalidInputError(f"{kernel_file}: a benchmark needs OpenCL C source, not LLVM IR")
    path = asked.output or kernel_file.with_suffix(".toml")
    if path.suffix != ".toml":
        raise InvalidInputError(f"{path}: the file's name must end with .toml")
    if kernel is not None or not kernel_file.exists():
        _check_is_new(path, force)
    if kernel_file.suffix == C_SUFFIX:
        return _written_of_c(asked, path)
    source = opencl_c_of(kernel_file) or ""
    annotations = read_annotations(source, str(kernel_file))
    standard = asked.cl_std or DEFAULT_STANDARD
    # The defaults are those of the pragmas: an implementation's name means nothing to the source as it is.
    code: str | Path = source_without_pragmas(source, str(kernel_file)) if annotations.pragmas else kernel_file
    folders = [*(asked.include or ()), str(kernel_file.parent)] if annotations.pragmas else asked.include
    unit = compile_source(code, build_options(asked.define, folders, standard, asked.build_option))
    names: list[str | None] = [kernel] if kernel is not None else [*unit.kernels]
    paths = [path] if len(names) < 2 else [path.with_suffix(f".{name}.toml") for name in names]
    for each in paths:
        _check_is_new(each, force)
    tunables, others = _macros(asked.define or ())
    folders = [f"-I{f if Path(f).is_absolute() else _from(path, f)}" for f in asked.include or ()]
    options = [*others, *folders, f"-cl-std={standard}", *(asked.build_option or ())]
    # Imported late: it loads NumPy, which a mistaken command can do without.
    from coarsen.opencl_bench.workloads.described.template import inputs_text, parameters_comment, template

    texts = []
    for name in names or [None]:
        with naming_file(kernel_file):
            lowered = lower(unit, name)
        text = template(lowered, _from(path, kernel_file), options, tunables, parameters_comment(annotations))
        texts.append(text + (inputs_text(lowered, annotations) if asked.inputs else ""))
    for each, text in zip(paths, texts, strict=True):
        write_result(text, each)
    return paths


def _written_of_c(asked: DescribeOptions, path: Path) -> list[Path]:
    """Write the description of each kernel of a C function, or of the one that is named. Raises as `_written`."""
    # Imported late: most kernels are OpenCL C.
    from coarsen.loops import read_program
    from coarsen.opencl_bench.workloads.described.c_template import c_template

    if asked.inputs:
        raise InvalidInputError("--inputs is for kernels of OpenCL C: add [inputs] to the file by hand")
    if asked.cl_std or asked.build_option:
        raise InvalidInputError("--cl-std and --build-option are for kernels of OpenCL C: give -D and -I alone")
    macros = [f"-D{each}" for each in asked.define or ()]
    folders = [each if Path(each).is_absolute() else _from(path, each) for each in asked.include or ()]
    options = [*macros, *(f"-I{each}" for each in asked.include or ())]
    program = read_program(asked.kernel_file, asked.kernel, options)
    named = [*macros, *(f"-I{each}" for each in folders)]
    names = [asked.kernel] if asked.kernel in program.names else [*program.names]
    paths = [path] if len(names) < 2 else [path.with_suffix(f".{name}.toml") for name in names]
    for each in paths:
        _check_is_new(each, asked.force)
    texts = [c_template(program, name, _from(path, asked.kernel_file), named) for name in names]
    for each, text in zip(paths, texts, strict=True):
        write_result(text, each)
    return paths


def _check_is_new(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise InvalidInputError(f"{path}: the file is there already; --force overwrites it")


def _macros(definitions: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The macros that a sweep may try with other values, and the build options that define the others."""
    tunables: dict[str, str] = {}
    options = []
    for definition in definitions:
        name, equals, value = definition.partition("=")
        if value and not re.search(r"\s", value):
            tunables[name] = value
        else:
            # Blanks are protected: an option may be several words.
            options.append(f"-D{name}{equals}{shlex.quote(value) if value else value}")
    return tunables, options


def _from(path: Path, other: Path | str) -> str:
    """Another path as the file at a path is to name it: a relative one from the file's own folder."""
    return Path(os.path.relpath(other, path.parent)).as_posix()
