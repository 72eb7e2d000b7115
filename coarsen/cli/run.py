"""`coarsen run`: run a PyOpenCL program as it is, with its kernels coarsened."""

from __future__ import annotations

import typer

from coarsen.cli.declared import takes
from coarsen.cli.running import RunOptions, run_with


@takes(RunOptions)
def run(asked: RunOptions) -> None:
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
    raise typer.Exit(run_with(asked))
