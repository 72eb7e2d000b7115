"""`coarsen run`: run a PyOpenCL program as it is, with its kernels coarsened."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer

from coarsen.cli.options import with_parameters
from coarsen.cli.running import RunOptions, flags_of_run, run_with

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


def _options() -> Mapping[str, inspect.Parameter]:
    """The options that the fields of `RunOptions` declare."""
    declared, types = {each.name: each for each in fields(RunOptions)}, get_type_hints(RunOptions)
    made = {}
    for flag, name in flags_of_run():
        told = declared[name].metadata
        option = typer.Option(flag, metavar=told["metavar"] or None, help=told["help"], show_default=False)
        made[name] = inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=declared[name].default,
            annotation=Annotated[types[name], option],
        )
    return made


@with_parameters(_options())
def run(program: Program, chosen: Mapping[str, Any], arguments: ProgramArguments = None) -> None:
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
    raise typer.Exit(run_with(RunOptions(program, tuple(arguments or ()), **chosen)))
