"""`coarsen run`: run a PyOpenCL program with its kernels coarsened, or record any OpenCL program."""

from __future__ import annotations

import typer

from coarsen.cli.declared import takes
from coarsen.cli.running import RunOptions, run_with


@takes(RunOptions)
def run(asked: RunOptions) -> None:
    """Run a PyOpenCL program coarsened, or record any program.

    Nothing in the program need be changed: while it runs, pyopencl.Program coarsens what is made from OpenCL C,
    using remembered variants or, with --tune, a search. Other launches stay as they are: nothing runs that was
    not measured against the original on the device, unless --predict asks for it. A table at the end, on standard
    error, shows for each kernel how often it was launched, what ran and why, and the time that this saved as far
    as it was measured. The exit code is the program's. Options of coarsen run come before the program's name.
    Processes that the program starts run as without coarsen. Drivers that pip installed are there for the program,
    too.

    With --record, PROGRAM may be any executable or command. A layer under its OpenCL loader counts, times and
    captures its launches, also those of processes that it starts. The table shows for each kernel its share of
    the program's kernel time and whether it can be coarsened, and the commands that tune what takes most of it.
    Kernels stay as they are.

    Example: coarsen run --tune --seconds 30 simulation.py --steps 100

    Example: coarsen run --record launches ./simulation --steps 100
    """
    raise typer.Exit(run_with(asked))
