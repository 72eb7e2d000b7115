"""`coarsen apply FILE.c`: the loops of C functions explained, or written as kernels."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from coarsen.base.version import __version__
from coarsen.cli.apply.options import ApplyOptions
from coarsen.cli.declared import flags_of
from coarsen.cli.messages import raise_last
from coarsen.cli.output import print_line, write_result
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError
from coarsen.loops import check_islpy, read_program
from coarsen.variant.options import ARRAY_OPTIONS, COARSENING_OPTIONS, TRANSFORM_OPTIONS

if TYPE_CHECKING:
    from coarsen.loops.launches import Launching
    from coarsen.loops.program import NestProgram

PICTURES = (".svg", ".png", ".pdf")
_TAKEN = ("file", "chosen", "explain", "kernel", "define", "include", "output")
_OF_VARIANTS = {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS, **ARRAY_OPTIONS}


def is_of_kernels(asked: ApplyOptions) -> bool:
    """Return True if something is asked of the kernels of a C file, other than to explain or to write them."""
    return not asked.explain and bool(_others(asked))


def explain_c_file(asked: ApplyOptions) -> None:
    """Write what is known of the loops of a C file's functions, or of the one that `--kernel` names.

    Into a file of one of `PICTURES` goes a picture of the loops of one function.

    Raises:
        InvalidInputError: options that don't go with it; islpy is missing; the file can't be read.
        RefusalError: a function is no affine loop nest; the others are explained first.
    """
    if others := _others(asked):
        raise InvalidInputError(f"{others} does not go with --explain of a C file, which takes -k, -D, -I and -o")
    check_islpy()
    if asked.output is not None and asked.output.suffix in PICTURES:
        program = read_program(asked.file, asked.kernel, shlex.split(asked.build_options))
        check_packages(("matplotlib",), "a picture")
        # Imported late: it loads Matplotlib.
        from coarsen.loops.picture import picture

        write_result(picture(program, asked.output.suffix), asked.output)
        return
    # Imported late: they load islpy, which only C files need.
    from coarsen.loops.explain import explain_loops

    text, refusals = explain_loops(asked.file, shlex.split(asked.build_options), asked.kernel)
    if text:
        write_result(text, asked.output)
    elif not refusals:
        raise InvalidInputError(f"{asked.file}: no function with a loop is defined in it")
    raise_last(refusals)


def write_c_file(asked: ApplyOptions) -> None:
    """Write the kernels of a C function, with their launches in a comment; into a folder with a header for hosts.

    Raises:
        InvalidInputError: the file can't be read, has several functions with loops; islpy is missing.
        RefusalError: the function is no affine loop nest, or none that OpenCL C can have.
    """
    program = read_program(asked.file, asked.kernel, shlex.split(asked.build_options))
    comment = "".join(f"// {line}".rstrip() + "\n" for line in _comment(program))
    text, folder = f"{comment}\n{program.text}", asked.output
    # A path has lost the / that it may have ended with.
    if folder is None or not (folder.is_dir() or not (folder.suffix or folder.exists())):
        write_result(text, folder)
        return
    # Imported late: it loads islpy.
    from coarsen.loops.host_header import host_header

    name = program.function.name
    header = host_header(program)
    folder.mkdir(parents=True, exist_ok=True)
    write_result(text, folder / f"{name}.cl")
    write_result(header, folder / f"{name}.h")
    print_line(f"wrote {folder / name}.cl and {name}.h, which launches it")


def _comment(program: NestProgram) -> Iterator[str]:
    # Imported late: it loads islpy.
    from coarsen.loops.kernel_text import whole_type

    yield f"Written by coarsen {__version__}: the loops of {program.function.name} in {program.path.name}."
    yield from (f"Assumed: {each}." for each in program.nest.assumptions)
    if whole_type(program.nest) == "int":
        yield "Assumed: no array has 2^31 elements or more; with long sizes in C it may."
    exactly = ""
    if program.shares_sums:
        lanes = ", ".join(each.kernel.lane_macros[0] for each in program.kernels if each.kernel.split)
        exactly = f", but of {lanes} there are as many"
        yield f"Assumed: no shared loop ends within {lanes} or 8192 of its steps below the largest whole number."
    yield f"Launches, in work-items; more of them do nothing{exactly}:"
    yield from _launches(program.launches, "  ")


def _launches(launches: Sequence[Launching], indent: str) -> Iterator[str]:
    # Imported late: it loads islpy.
    from coarsen.loops.launches import LaunchIf, LaunchLoop

    for each in launches:
        if isinstance(each, LaunchIf):
            yield f"{indent}if {' and '.join(each.conditions)}"
            yield from _launches(each.body, f"{indent}  ")
        elif isinstance(each, LaunchLoop):
            by = f" by {each.step}" if each.step > 1 else ""
            yield f"{indent}for {each.name} from {each.first} to {_last(each.end)}{by}"
            yield from _launches(each.body, f"{indent}  ")
        else:
            steps = "".join(f", {name} = {value}" for name, value in each.steps.items() if name != value)
            yield f"{indent}{each.kernel.kernel.name}: ({', '.join(each.global_size)}){steps}"


def _last(end: str) -> str:
    """The number before an end: `steps` -> `steps - 1`, `n + 1` -> `n`."""
    plain, sign, number = re.fullmatch(r"(.*?)(?: ([+-]) (\d+))?", end).groups("")  # type: ignore[union-attr]
    offset = int(f"{sign}{number or 0}") - 1
    return plain if not offset else f"{plain} {'-+'[offset > 0]} {abs(offset)}"


def _others(asked: ApplyOptions) -> str:
    """The first option that was given and that is for kernels of OpenCL C."""
    for name, declared in _OF_VARIANTS.items():
        if asked.chosen[name] not in (declared.default, None, []):
            return f"--{declared.name}"
    for each in fields(ApplyOptions):
        if each.name not in _TAKEN and getattr(asked, each.name) not in (each.default, None, []):
            return flags_of(each)[-1]
    return ""
