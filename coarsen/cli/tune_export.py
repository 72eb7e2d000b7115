"""`coarsen tune export`: the versions of a tuned file as sources, and a C header that chooses between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.messages import note
from coarsen.cli.output import counted, print_line, write_result
from coarsen.cli.tune_show import TunedPath
from coarsen.errors import InvalidInputError

CFolder = Annotated[
    Path,
    typer.Option("--c", metavar="DIR", help="The folder for choose.h and a version_N.cl for each version."),
]
Source = Annotated[
    Path | None,
    typer.Option(
        "--source",
        metavar="KERNEL.cl",
        help="The kernel that was tuned.  [default: that of the description beside the file]",
    ),
]


def export(file: TunedPath, c: CFolder, source: Source = None) -> None:
    """Write the versions of a tuned file for a host program in C, with a C99 header that chooses between them.

    Example: coarsen tune export mv.tuned.json --c generated
    """
    # Imported late: they load NumPy and clang.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.exported import exported_files

    tuned = TunedFile.read(file)
    made = [*exported_files(tuned, source or _source_beside(file, tuned.evidence.get("description")))]
    c.mkdir(parents=True, exist_ok=True)
    for name, text in made:
        write_result(text, c / name)
    if tuned.build_options:
        options = " ".join(tuned.build_options)
        note(f"compiled with the tuned file's build options, which the sources name: {options}")
    print_line(f"wrote {c / made[0][0]} and {counted(len(made) - 1, 'version')} beside it")


def _source_beside(file: Path, name: object) -> Path:
    """The kernel's file by the description that was tuned. Raises InvalidInputError where that isn't there."""
    from coarsen.opencl_bench.workloads.described.read import read_description

    description = file.parent / str(name)
    if not isinstance(name, str) or Path(name).name != name or not description.is_file():
        raise InvalidInputError(
            f"{file}: the description that was tuned isn't beside it; name the kernel (--source)"
        )
    return read_description(description).kernel_file
