"""`coarsen run`: run a PyOpenCL program as it is, with its kernels coarsened."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.options import StoreUrl
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.drop_in.mode import Otherwise
    from coarsen.drop_in.running import Recording
    from coarsen.tuning.settings import Tune

Program = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="The program's file, or folder.", show_default=False)
]
ProgramArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ARGUMENT",
        help="All that comes after the program's name is its own, options too.",
        show_default=False,
    ),
]
Module = Annotated[bool, typer.Option("-m", help="PROGRAM is the name of a module, as after python -m.")]
Tuned = Annotated[
    bool,
    typer.Option("--tune", help="Tune launches of which nothing is remembered, and remember what was found."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        metavar="NUMBER",
        help="The most that tuning one kernel at one class of sizes may take.  [default: 20]",
        show_default=False,
    ),
]
Predicted = Annotated[
    bool,
    typer.Option(
        "--predict",
        help="Run launches of which nothing is remembered by a predicted factor: a guess, which nobody measured.",
    ),
]
RecordFolder = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FOLDER",
        help="Write the first launch of each kernel and class of sizes as a workload for coarsen bench, and a "
        "list of what all launches pass, for coarsen tune KERNEL.toml --inputs-from FOLDER.",
    ),
]
RecordContents = Annotated[
    str | None,
    typer.Option(
        "--record-contents",
        metavar="class|each|none",
        help="Whose buffers are recorded: of the first launch of each class of sizes, of each that passes "
        "something else, or of none: then only arguments, sizes and counts are.  [default: class]",
        show_default=False,
    ),
]
MostBytes = Annotated[
    str | None,
    typer.Option(
        "--most-bytes",
        metavar="NUMBER",
        help="The most that the buffers of recorded launches may hold in all: 500M, 2G.  [default: 1G]",
        show_default=False,
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write the table there as JSON, not on standard error."),
]


def run(
    program: Program,
    arguments: ProgramArguments = None,
    module: Module = False,
    tune: Tuned = False,
    seconds: Seconds = None,
    predict: Predicted = False,
    record: RecordFolder = None,
    record_contents: RecordContents = None,
    most_bytes: MostBytes = None,
    report: ReportFile = None,
    store: StoreUrl = None,
) -> None:
    """Run a PyOpenCL program as it is, with its kernels coarsened.

    Nothing in the program need be changed: while it runs, pyopencl.Program coarsens what is made from OpenCL C,
    using remembered variants or, with --tune, a search. Other launches stay as they are: nothing runs that was
    not measured against the original on the device, unless --predict asks for it. A table at the end, on standard
    error, shows for each kernel how often it was launched, what ran and why, and the time that this saved as far
    as it was measured. The exit code is the program's. Options of coarsen run come before the program's name.
    Processes that the program starts run as without coarsen. Drivers that pip installed are there for the program,
    too.

    Example: coarsen run --tune --seconds 30 simulation.py --steps 100
    """
    otherwise, settings = mode_of(tune, seconds, store, predict), settings_of(seconds, store)
    recording = recording_of(record, most_bytes, record_contents)
    # The program may go to another folder.
    file = None if report is None else _checked_file(report)
    # Imported late: it loads PyOpenCL.
    from coarsen.cli.run.report import print_report, write_report
    from coarsen.drop_in.running import run_program
    from coarsen.drop_in.script import Script

    script = Script(program, tuple(arguments or ()), module)
    process = os.getpid()
    result = run_program(script, otherwise, settings, recording)
    if os.getpid() == process:
        # A process that the program forked may come here too.
        if file is None:
            print_report(script, otherwise, result)
        else:
            write_report(script, result, file)
    if result.is_interrupted:
        raise KeyboardInterrupt
    raise typer.Exit(result.exit_code)


def _checked_file(report: Path) -> Path:
    """Return the file's absolute path. Raises InvalidInputError where no file can be written."""
    if report.is_dir() or not report.absolute().parent.is_dir():
        raise InvalidInputError(f"{report}: no file can be written there")
    return report.absolute()


_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def mode_of(tune: bool, seconds: float | None, store: str | None, predict: bool = False) -> Otherwise:
    """Return what is done with launches of which nothing is remembered.

    Raises:
        InvalidInputError: options that exclude each other; a package that tuning needs is missing.
    """
    if predict and tune:
        raise InvalidInputError("--predict guesses, and measures nothing: leave out --tune")
    if seconds is not None and not tune:
        raise InvalidInputError("--seconds says how long to tune: add --tune")
    if importlib.util.find_spec("pyopencl") is None:
        raise InvalidInputError("programs are run with PyOpenCL: pip install pyopencl")
    # Imported late: these load PyOpenCL.
    from coarsen.drop_in.mode import Otherwise
    from coarsen.tuning.store.place import chosen_store, sqlite_file

    if tune or sqlite_file(chosen_store(store)) is None:
        check_packages()

    if tune:
        return Otherwise.TUNE
    return Otherwise.PREDICT if predict else Otherwise.LEAVE


def settings_of(seconds: float | None, store: str | None) -> Tune:
    """Return the settings of tuning. Raises InvalidInputError for a number of seconds that is not above 0."""
    from coarsen.tuning.settings import Tune

    return Tune(store=store) if seconds is None else Tune(seconds=seconds, store=store)


def recording_of(folder: Path | None, most_bytes: str | None, contents: str | None) -> Recording | None:
    """Return where launches are recorded and which; None for not at all.

    Raises:
        InvalidInputError: options that say how to record, and no folder; or that mean nothing together.
    """
    if folder is None:
        for option, value in (("--most-bytes", most_bytes), ("--record-contents", contents)):
            if value is not None:
                raise InvalidInputError(f"{option} says how much to record: add --record FOLDER")
        return None
    # Imported late: these load PyOpenCL.
    from coarsen.drop_in.recorder import MOST_BYTES, Contents
    from coarsen.drop_in.running import Recording

    words = [each.value for each in Contents]
    if contents is not None and contents not in words:
        raise InvalidInputError(
            f"--record-contents takes {', '.join(words[:-1])} or {words[-1]}, not '{contents}'"
        )
    if contents == Contents.NONE and most_bytes is not None:
        raise InvalidInputError("--most-bytes limits contents, and --record-contents none records none")
    chosen = Contents.CLASS if contents is None else Contents(contents)
    return Recording(folder, MOST_BYTES if most_bytes is None else byte_count(most_bytes), chosen)


def byte_count(text: str) -> int:
    """Return a number of bytes: `4096`, `500M`, `2G`. Raises InvalidInputError for any other text."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in _UNITS else (text, "")
    if not (number.isascii() and number.isdigit()) or not int(number):
        raise InvalidInputError(f"--most-bytes takes a number of bytes, such as 500M or 2G, not '{text}'")
    return int(number) << _UNITS.get(unit, 0)
