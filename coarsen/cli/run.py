"""`coarsen run`: run a PyOpenCL program as it is, with its kernels coarsened."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from coarsen.cli.options import StoreUrl
from coarsen.cli.run_options import (
    Module,
    MostBytes,
    Predicted,
    Program,
    ProgramArguments,
    RecordContents,
    RecordFolder,
    Remembered,
    ReportFile,
    Seconds,
    Tuned,
    mode_of,
    recording_of,
    settings_of,
)
from coarsen.errors import InvalidInputError


def run(
    program: Program,
    arguments: ProgramArguments = None,
    module: Module = False,
    tune: Tuned = False,
    seconds: Seconds = None,
    remembered: Remembered = False,
    predict: Predicted = False,
    record: RecordFolder = None,
    record_contents: RecordContents = None,
    most_bytes: MostBytes = None,
    report: ReportFile = None,
    store: StoreUrl = None,
) -> None:
    """Run a PyOpenCL program as it is, with its kernels coarsened.

    Nothing in the program need be changed: while it runs, pyopencl.Program coarsens what is made from OpenCL C, as
    is remembered of such launches, or as --tune finds. Other launches stay as they are: nothing runs that was not
    measured against the original on the device, unless --predict asks for it. A table at the end, on standard
    error, shows for each kernel how often it was launched, what ran and why, and the time that this saved as far
    as it was measured. The exit code is the program's. Options of coarsen run come before the program's name.
    Processes that the program starts run as without coarsen. Drivers that pip installed are there for the program,
    too.

    Example: coarsen run --tune --seconds 30 simulation.py --steps 100
    """
    otherwise, settings = mode_of(tune, seconds, remembered, store, predict), settings_of(seconds, store)
    recording = recording_of(record, most_bytes, record_contents)
    # The program may go to another folder.
    file = None if report is None else _checked_file(report)
    # Imported late: it loads PyOpenCL.
    from coarsen.cli.run_json import write_report
    from coarsen.cli.run_report import print_report
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
