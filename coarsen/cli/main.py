"""The command line's entry: finds the command, runs it, and turns errors into one line and an exit code.

Exit codes: 0 done · 1 internal error · 2 usage or invalid input · 3 the kernel can't be coarsened · 4 no
usable device · 5 verification failed · 130 interrupted.

A command's module is imported when the command is named, so that `coarsen --help` starts at once and no
command loads packages that only another needs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import typer
from typer.core import TyperCommand, TyperGroup

from coarsen.bug_report import bug_message
from coarsen.cli.bare_options import with_numbers
from coarsen.cli.groups import Group
from coarsen.cli.messages import INTERRUPTED, Settings, logging_to_stderr, say
from coarsen.cli.options import Debug, Quiet, Verbose, Version
from coarsen.errors import CoarsenError, InternalError, InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.whole_output import whole_output

_EVERYDAY = MappingProxyType(
    {
        "tune": "Find the fastest variant of a kernel, and remember it.",
        "run": "Run a PyOpenCL program as it is, with its kernels coarsened.",
        "apply": "Coarsen a kernel, or explain the effect of coarsening it.",
        "predict": "Predict the best coarsening factor of a kernel on a device.",
        "explore": "Plot stored measurements, or list the best configurations.",
        "doctor": "Show what coarsen uses, and how to mend what is missing.",
    }
)
_RESEARCH = MappingProxyType(
    {
        "features": "Show the static features of a kernel at each factor.",
        "train": "Train a predictor, print its evaluation and store it.",
        "evaluate": "Evaluate predictors on kernels that they have not seen.",
        "bench": "Measure kernels coarsened in every way, and verify them.",
        "results": "List, show, export, import and merge stored measurements.",
        "remembered": "List, show, forget, export and import what tuning found.",
        "calibrate": "Measure what a device's memory, operations and launches cost.",
        "devices": "List the OpenCL devices and whether each really runs a kernel.",
    }
)
_SECTIONS = MappingProxyType({"Everyday commands": _EVERYDAY, "Commands for research": _RESEARCH})
COMMANDS = _EVERYDAY | _RESEARCH
# Commands of former versions, and what to do instead.
_GONE = MappingProxyType(
    {
        "search": "it compared search strategies; 'coarsen bench --search NAME' searches a kernel's space",
        "loadings": "the notebook paper.ipynb draws the components' loadings",
    }
)
# Commands of two words; the module of `bench init` is `bench_init`.
SUBCOMMANDS = MappingProxyType({"bench": ("init", "pack"), "tune": ("init", "show", "export")})
# All that comes after the first word of these that is no option belongs to a program.
_ENDS_WITH_ANOTHER = ("run",)

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_BRACES = re.compile(r"^\{(.+)\}")
_NO_CHOICE = re.compile(r"'([^']*)' is not one of (.*)$")
_QUOTED = re.compile(r"'([^']*)'")
_PLAIN: Any = {"add_completion": False, "rich_markup_mode": None, "context_settings": _CONTEXT}


@runtime_checkable
class UsageError(Protocol):
    """The error that typer raises for words that it can't take, whatever a version of it calls the class."""

    exit_code: int
    ctx: Any

    def format_message(self) -> str:
        """Return the message, without the usage."""
        ...


class NamedCommands(TyperGroup):
    """Commands by name; a message about an unknown one says which is spelled almost so."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return the name, the command and what is left of the words."""
        known = self.list_commands(ctx)
        if args and args[0] in _GONE and args[0] not in known:
            ctx.fail(f"there is no '{args[0]}' any more: {_GONE[args[0]]}")
        if args and not args[0].startswith("-") and args[0] not in known:
            ctx.fail(f"no such command '{args[0]}'{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


class LazyCommands(NamedCommands):
    """The commands by name; each is loaded when it is to run, and listed without being loaded."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write the commands of each section under its heading."""
        width = max(map(len, COMMANDS))
        for heading, commands in _SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return a stand-in that knows its one line of help."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return the command itself, and what is left of the words."""
        name, _, rest = super().resolve_command(ctx, args)
        if name and rest and rest[0] in SUBCOMMANDS.get(name, ()):
            name, rest = f"{name} {rest[0]}", rest[1:]
        ctx.ensure_object(Settings).command = f"{ctx.command_path} {name}"
        return name, load_command(name) if name else None, rest


class PlainUsage(TyperCommand):
    """A command whose usage names what is required without the braces that some versions of typer put there.

    Some of its options may come without their number.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the words."""
        return super().parse_args(ctx, with_numbers(self.name or "", args))

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the words of the usage."""
        return [_BRACES.sub(r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


def load_command(name: str) -> Any:  # noqa: ANN401 (typer's commands have no public type)
    """Import a command's module and make a command of its function, with the options that all have."""
    module = importlib.import_module(f"coarsen.cli.{name.replace(' ', '_')}")
    found = getattr(module, name.split()[-1])
    command = _group_of(found) if isinstance(found, Group) else _command_of(found, name)
    for each in (command, *getattr(command, "commands", {}).values()):
        for parameter in _command_of(_common, name).params:
            parameter.expose_value = False
            each.params.append(parameter)
    return command


def _command_of(function: Any, name: str) -> Any:  # noqa: ANN401
    application = typer.Typer(**_PLAIN)
    settings = {**_CONTEXT, "allow_interspersed_args": name not in _ENDS_WITH_ANOTHER}
    application.command(name, cls=PlainUsage, context_settings=settings)(function)
    return typer.main.get_command(application)


def _group_of(group: Group) -> Any:  # noqa: ANN401
    application = typer.Typer(**_PLAIN)
    settings: Any = {"invoke_without_command": True, "help": group.description}
    application.callback(cls=NamedCommands, context_settings=_CONTEXT, **settings)(_help_of_group)
    for name, function in group.commands.items():
        application.command(name, cls=PlainUsage, context_settings=_CONTEXT)(function)
    return typer.main.get_command(application)


def _help_of_group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _common(verbose: Verbose = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """The options of every command; each acts when it is read."""


def _root(
    context: typer.Context,
    version: Version = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Thread coarsening for OpenCL kernels: several work-items become one.

    `coarsen COMMAND --help` describes a command. Exit codes: 0 done, 1 internal error, 2 usage or invalid
    input, 3 the kernel can't be coarsened, 4 no usable device, 5 verification failed, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the words after the program's name; those that the process was started with if left out.

    Returns:
        the exit code.
    """
    application = typer.Typer(**_PLAIN)
    application.callback(cls=LazyCommands, invoke_without_command=True, context_settings=_CONTEXT)(_root)
    group = typer.main.get_command(application)
    settings = Settings()
    with logging_to_stderr():
        try:
            with whole_output():
                code = _run(group, sys.argv[1:] if arguments is None else list(arguments), settings)
        except (Exception, KeyboardInterrupt) as error:
            code = _exit_code(error, settings)
    return code


def _run(group: Any, words: list[str], settings: Settings) -> int:  # noqa: ANN401
    try:
        with group.make_context("coarsen", words, obj=settings) as context:
            group.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return 0


def _exit_code(error: BaseException, settings: Settings) -> int:
    """The exit code for what ended a command; says on standard error what went wrong."""
    if isinstance(error, BrokenPipeError):
        # The reader of standard output closed it, as `head` does; that is no error.
        _give_up_output()
        return 0
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        say("interrupted")
        return INTERRUPTED
    if settings.debug:
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, UsageError):
        return _usage_error(error, settings)
    if isinstance(error, CoarsenError) and not isinstance(error, InternalError):
        say("error", str(error))
        return error.exit_code
    if isinstance(error, OSError):
        _give_up_output()
        say("error", ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        return InvalidInputError.exit_code
    say("error", bug_message(error, is_shown=settings.debug))
    return InternalError.exit_code


def _usage_error(error: UsageError, settings: Settings) -> int:
    command = error.ctx.command_path if error.ctx is not None else settings.command
    # A value's own message comes after a prefix that newer versions of typer put there.
    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    choice = _NO_CHOICE.search(message)
    if choice is not None:
        message = f"{message}{did_you_mean(choice[1], _QUOTED.findall(choice[2]))}"
    say("error", f"{message[:1].lower()}{message[1:]} (try '{command} --help')")
    return error.exit_code


def _give_up_output() -> None:
    """Discard what is left to be written: Python writes it when it exits, which must not fail as well."""
    with contextlib.suppress(OSError):  # standard output may be no file at all, in another program
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
