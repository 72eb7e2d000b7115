"""The reference of the command line, from the commands themselves: what `coarsen COMMAND --help` says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import typer

from coarsen.cli.main import COMMANDS, load_command

_EXAMPLE = re.compile(r"^Examples?: (?P<command>.+)$", re.DOTALL)
# An option in a sentence, and what can't be had literally in Markdown.
_OPTION = re.compile(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)")
_SPECIAL = re.compile(r"([<>*_|\\\[\]])")
# What the help adds to a sentence about an option: "[default: 0]", "[required]", "[x>=1]".
_NOTE = re.compile(r"\s*\[(?P<note>(?:default: |required|\(?dynamic|x|[\d.]+<)[^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or an option: how it is written, what it means, and notes such as its default."""

    names: str
    meaning: str
    notes: tuple[str, ...]
    is_argument: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its name, without `coarsen`."""

    name: str
    usage: str
    help: str
    parameters: tuple[Parameter, ...]

    @property
    def anchor(self) -> str:
        """Of its heading."""
        return f"coarsen-{self.name}"


def commands() -> list[Command]:
    """Every command, in the order of the help."""
    return [_command(name, load_command(name)) for name in COMMANDS]


def _command(name: str, loaded: Any) -> Command:  # noqa: ANN401 (typer's commands have no public type)
    context = typer.Context(loaded, info_name=f"coarsen {name}")
    usage = " ".join(loaded.get_usage(context).removeprefix("Usage:").split())
    found = ((parameter, parameter.get_help_record(context)) for parameter in loaded.params)
    parameters = tuple(_parameter(parameter, *record) for parameter, record in found if record is not None)
    return Command(name, usage, loaded.help or "", parameters)


def _parameter(parameter: Any, names: str, text: str) -> Parameter:  # noqa: ANN401
    notes = tuple(note for found in _NOTE.finditer(text) for note in found["note"].split("; "))
    is_argument = parameter.param_type_name == "argument"
    # Types say something where they list what may be given: "<item|group>", not "<path>".
    shown = re.sub(r"<list\[(.+)\]>", r"<\1>", names)
    shown = re.sub(r" <\w+>$", "", shown) if is_argument else shown
    return Parameter(shown, _NOTE.sub("", text).strip(), notes, is_argument)


def commands_in_markdown() -> str:
    """All commands, one heading each, and at the end the options that every one has."""
    every = commands()
    shared = _shared(every)
    parts = [_overview(every), *(_in_markdown(command, shared) for command in every)]
    return "\n\n".join([*parts, "## Options of every command { #options-of-every-command }", _list(shared)])


def _shared(every: Iterable[Command]) -> list[Parameter]:
    first, *others = every
    return [found for found in first.parameters if all(found in other.parameters for other in others)]


def _overview(every: Iterable[Command]) -> str:
    rows = (f"| [`coarsen {each.name}`](#{each.anchor}) | {_sentence(each.help)} |" for each in every)
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def _sentence(text: str) -> str:
    return _prose(" ".join(text.split("\n\n")[0].split()))


def _in_markdown(command: Command, shared: list[Parameter]) -> str:
    own = [parameter for parameter in command.parameters if parameter not in shared]
    arguments = [parameter for parameter in own if parameter.is_argument]
    options = [parameter for parameter in own if not parameter.is_argument]
    parts = [f"## coarsen {command.name} {{ #{command.anchor} }}", *_description(command)]
    parts += ["**Arguments**", _list(arguments)] if arguments else []
    parts += ["**Options**, besides [those of every command](#options-of-every-command)"] if options else []
    return "\n\n".join([*parts, _list(options, command.anchor)] if options else parts)


def _description(command: Command) -> Iterator[str]:
    """What it does, how it is called, and examples."""
    first, *others = command.help.strip().split("\n\n")
    yield _sentence(first)
    yield f"``` {{ .text .no-copy }}\n{command.usage}\n```"
    for paragraph in others:
        text = " ".join(paragraph.split())
        example = _EXAMPLE.match(text)
        yield f"```sh\n{example['command']}\n```" if example else _prose(text)


def _list(parameters: Iterable[Parameter], anchor: str = "") -> str:
    return "\n\n".join(_item(parameter, anchor) for parameter in parameters)


def _item(parameter: Parameter, anchor: str) -> str:
    long = re.search(r"--[\w-]+", parameter.names)
    place = f'<span id="{anchor}{long[0]}"></span>' if anchor and long else ""
    notes = " ".join(f'<span class="note">{_prose(note)}</span>' for note in parameter.notes)
    names = ", ".join(f"`{name}`" for name in parameter.names.split(", ") if name)
    return f"{place}{names}\n:   {_prose(parameter.meaning)} {notes}".rstrip()


def _prose(text: str) -> str:
    """A sentence of the help as Markdown: options as code, nothing else special; what is code stays so."""
    pieces = text.split("`")
    for number, piece in enumerate(pieces):
        is_code = number % 2 == 1
        pieces[number] = f"`{piece}`" if is_code else "".join(map(_word, re.split(r"(\s+)", piece)))
    return "".join(pieces)


def _word(word: str) -> str:
    option = _OPTION.search(word)
    if option is None:
        return _literal(word)
    return f"{_literal(word[: option.start()])}`{option[0]}`{_literal(word[option.end() :])}"


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
