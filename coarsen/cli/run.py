"""`coarsen run`: run any OpenCL program with its kernels coarsened, or find out how."""

from __future__ import annotations

import typer

from coarsen.cli.declared import takes
from coarsen.cli.running import RunOptions, run_with


@takes(RunOptions)
def run(asked: RunOptions) -> None:
    """Run any OpenCL program with what is remembered of its kernels, record it, or tune it.

    PROGRAM is an executable, a command or a script; nothing in it need be changed. A small layer under its OpenCL
    loader launches variants that were measured against the original on this device, where they fit the launch;
    every other launch is the program's own. Its processes and its output are its own, too. Options of coarsen run
    come before the program's name. Drivers that pip installed are there for the program.

    With --tune, the program first runs as it is, and is recorded. Then the kernels that its time goes to are tuned
    on what was recorded, all in --seconds; what is found is remembered, and takes effect from the next run on. A
    table on standard error shows what was found. Ctrl-C ends the search and keeps that.

    With --record alone, the table shows for each kernel its share of the program's kernel time and whether it can
    be coarsened. The exit code is the program's.

    Example: coarsen run --tune ./simulation --steps 100

    Example: coarsen run ./simulation --steps 100000
    """
    raise typer.Exit(run_with(asked))
