"""The command line's entry: finds the command and runs it.

A command's module is imported when the command is named, so that `coarsen --help` starts at once and no
command loads packages that only another needs.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, NoneType
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from coarsen.base.names import did_you_mean
from coarsen.cli.messages import Settings, exit_code_of
from coarsen.cli.options import Debug, Quiet, Verbose, Version

_EVERYDAY = MappingProxyType(
    {
        "run": "Run any OpenCL program with tuned kernels, or record it.",
        "tune": "Find the fastest variant of a kernel, and remember it.",
        "describe": "Describe a kernel's arguments in a file, for tune and bench.",
        "apply": "Coarsen a kernel, or explain the effect of coarsening it.",
        "fuse": "Make one kernel of several that are launched in a row.",
        "predict": "Predict the best launch of a kernel on a device.",
        "devices": "List the OpenCL devices; check what coarsen needs.",
        "results": "Show, plot, export, import or forget what was measured.",
    }
)
_RESEARCH = MappingProxyType(
    {
        "bench": "Measure kernels coarsened in every way, and verify them.",
        "train": "Train a predictor, print its evaluation and store it.",
        "evaluate": "Evaluate predictors on kernels that they have not seen.",
    }
)
_SECTIONS = MappingProxyType({"Everyday commands": _EVERYDAY, "Commands for research": _RESEARCH})
COMMANDS = _EVERYDAY | _RESEARCH
# What --help shows of each command; --help-all shows everything. All that it has where none is named.
_FIRST: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "run": ("program", "arguments", "module", "tune", "seconds", "record", "report"),
        "tune": ("kernel", "device", "seconds", "inputs", "layout", "output", "store"),
        "describe": ("kernel_file", "kernel", "output", "inputs", "define"),
        "apply": (
            *("file", "kernel", "factor", "dimension", "stride", "level"),
            *("device", "output", "explain", "report"),
        ),
        "fuse": ("file", "kernels", "recording", "gives_up", "name", "output"),
        "predict": ("file", "device", "kernel", "local_size", "global_size", "measure"),
        "devices": ("check",),
        "results": ("action", "words", "kernel", "device", "remembered", "output", "store"),
        "bench": ("kernels", "device", "preset", "space", "quick", "store"),
        "train": ("device", "model", "data", "output"),
        "evaluate": ("data", "model", "device", "details"),
    }
)
# All that comes after the first word of these that is no option belongs to a program.
_ENDS_WITH_ANOTHER = ("run",)

_SUMMARY = "Thread coarsening for OpenCL kernels: several work-items become one."
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_BRACES = re.compile(r"^\{(.+)\}")
_TYPE = re.compile(r"(?<=\w) <(str|path|list\[str\])>$")
_PLAIN: Any = {"add_completion": False, "rich_markup_mode": None, "context_settings": _CONTEXT}


class LazyCommands(TyperGroup):
    """The commands by name; each is loaded when it is to run, and listed without being loaded."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write what fits a screen: the commands, and where the rest is."""
        if _ALL in ctx.meta:
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(_SUMMARY)
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("coarsen COMMAND --help describes a command, --help-all all of its options.")

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write the commands of each section under its heading."""
        width = max(map(len, COMMANDS))
        for heading, commands in _SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def get_help_option(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return `--help`."""
        return _without_pydantic(super().get_help_option(ctx))

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return a stand-in that knows its one line of help."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return the command itself, and what is left of the words; an unknown one's error names its like."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"no such command '{args[0]}'{did_you_mean(args[0], COMMANDS)}")
        name, _, rest = super().resolve_command(ctx, args)
        ctx.ensure_object(Settings).command = f"{ctx.command_path} {name}"
        return name, load_command(name) if name else None, rest


class PlainUsage(TyperCommand):
    """A command whose help fits a screen, and whose usage has no braces, which typer may put there."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write what fits a screen, or everything."""
        first = _FIRST.get(self.name or "")
        if _ALL in ctx.meta or first is None:
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        summary, *others = (self.help or "").split("\n\n")
        formatter.write_text(summary)
        shown = (parameter.get_help_record(ctx) for parameter in self.params if parameter.name in first)
        with formatter.section("Options"):
            # Newer versions of typer put an argument's type behind its name.
            plain = ((_TYPE.sub("", names), text) for names, text in filter(None, shown))
            formatter.write_dl([(names, _first_sentence(text)) for names, text in plain])
        example = next((text for text in others if text.strip().startswith("Example")), "")
        formatter.write_paragraph()
        formatter.write_text(example)
        formatter.write_text(f"{ctx.command_path} --help-all shows all of its options and says more.")

    def get_help_option(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Return `--help`."""
        return _without_pydantic(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the words of the usage."""
        return [_BRACES.sub(r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


def _first_sentence(text: str) -> str:
    """The first sentence of an option's help, without what its default is."""
    return re.split(r"(?<=[.])\s|\s+\[default", text)[0]


def load_command(name: str) -> Any:  # noqa: ANN401 (typer's commands have no public type)
    """Import a command's module and make a command of its function, with the options that all have."""
    command = _command_of(getattr(importlib.import_module(f"coarsen.cli.{name}"), name), name)
    for parameter in _command_of(_common, name).params:
        parameter.expose_value = False
        command.params.append(parameter)
    return command


def _command_of(function: Any, name: str) -> Any:  # noqa: ANN401
    application = typer.Typer(**_PLAIN)
    settings = {**_CONTEXT, "allow_interspersed_args": name not in _ENDS_WITH_ANOTHER}
    application.command(name, cls=PlainUsage, context_settings=settings)(function)
    command = typer.main.get_command(application)
    declared = inspect.signature(function).parameters
    for parameter in command.params:
        if parameter.callback is None:
            _keep_plain_values(parameter, declared[parameter.name])
    return command


# Newer versions of typer have pydantic convert all values, and pydantic takes as long to load as NumPy.

_TEXTS = (str, list[str])


def _keep_plain_values(parameter: Any, declared: inspect.Parameter) -> None:  # noqa: ANN401
    """Let a parameter take its own default, texts where it wants some, and what it has to choose from."""
    hint: Any = get_args(declared.annotation)[0]
    kind = get_args(hint)[0] if NoneType in get_args(hint) else hint
    members: Iterable[Any] = kind if isinstance(kind, enum.EnumType) else ()
    choices = {each.value: each for each in members}
    convert = parameter.process_value

    def process_value(context: Any, value: Any) -> Any:  # noqa: ANN401
        if value is declared.default or (kind in _TEXTS and value):
            return value
        return choices[value] if isinstance(value, str) and value in choices else convert(context, value)

    parameter.process_value = process_value


def _without_pydantic(help_option: Any) -> Any:  # noqa: ANN401
    """Return typer's `--help`, which is a flag without a value, as one that isn't set."""
    if help_option is not None:
        help_option.default = False
    return help_option


def _show_all(context: typer.Context, value: bool) -> bool:
    if value:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit
    return value


_ALL = "coarsen.help-all"
HelpAll = Annotated[
    bool, typer.Option("--help-all", help="Show all options and exit.", callback=_show_all, is_eager=True)
]


def _common(
    verbose: Verbose = False, quiet: Quiet = False, debug: Debug = False, help_all: HelpAll = False
) -> None:
    """The options of every command; each acts when it is read."""


def _root(
    context: typer.Context,
    version: Version = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
    help_all: HelpAll = False,
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
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exit_code_of(lambda: _run(group, words, settings), settings)


def _run(group: Any, words: list[str], settings: Settings) -> int:  # noqa: ANN401
    try:
        with group.make_context("coarsen", words, obj=settings) as context:
            group.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return 0
