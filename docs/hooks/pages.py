"""What MkDocs calls while it builds the pages: notebooks become pages, and marks become generated reference.

A page asks for generated text by a line of its own, `<!-- generated: commands -->` for example.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType, ModuleType
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from notebook_pages import notebook_page

from coarsen import errors
from coarsen.cli.main import COMMANDS, load_command
from coarsen.features import FEATURES

# Tables of exit codes and of the features.


def _table(headings: str, rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; its headings are divided by commas."""
    names = headings.split(", ")
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, ["---"] * len(names), *rows))


def exit_codes_in_markdown() -> str:
    """The exit codes, each with its error class."""
    every = [each for each in vars(errors).values() if isinstance(each, type)]
    found = [each for each in every if issubclass(each, errors.CoarsenError) and each is not errors.CoarsenError]
    rows = [
        [
            str(each.exit_code),
            (each.__doc__ or "").strip().split("\n")[0],
            f"[`{each.__name__}`][coarsen.errors.{each.__name__}]",
        ]
        for each in sorted(found, key=lambda each: each.exit_code)
    ]
    interrupted = ["130", "Interrupted (Ctrl-C).", "`KeyboardInterrupt`"]
    return _table("exit code, when, error in Python", [["0", "done", ""], *rows, interrupted])


def features_in_markdown() -> str:
    """The 17 features of the paper."""
    rows = ((f"`{each.name}`", each.description.replace("|", "\\|"), each.unit) for each in FEATURES)
    return _table("feature, what it is, unit", rows)


# The reference of the command line: what `coarsen COMMAND --help-all` says.

_EXAMPLE = re.compile(r"^Examples?: (?P<command>.+)$", re.DOTALL)
# What stays as it is in a sentence, an option in it, and what can't be had literally in Markdown.
_SPECIAL = re.compile(r"(?P<code>`[^`]*`)|(?P<option>(?<![\w`-])--?[a-zA-Z][\w-]*)|(?P<special>[<>*_|\\\[\]])")
# What the help adds to a sentence about an option: "[default: 0]", "[required]", "[x>=1]".
_NOTE = re.compile(r"\s*\[(?P<note>(?:default: |required|\(?dynamic|x|[\d.]+<)[^\]]*)\]")


def commands_in_markdown() -> str:
    """All commands, one heading each, and at the end the options that every one has."""
    found = {name: load_command(name) for name in COMMANDS}
    first, *others = found.values()
    shared = [each.name for each in first.params if all(each.name in {p.name for p in o.params} for o in others)]
    rows = ((f"[`coarsen {name}`](#coarsen-{name})", _summary(command)[0]) for name, command in found.items())
    parts = [_table("command, what it does", rows)]
    for name, command in found.items():
        parts += _command(name, command, [each for each in command.params if each.name not in shared])
    parts.append("## Options of every command { #options-of-every-command }")
    parts += [_parameter(each, first) for each in first.params if each.name in shared]
    return "\n\n".join(parts)


def _summary(command: Any) -> list[str]:  # noqa: ANN401 (typer's commands have no public type)
    """The paragraphs of a command's help, the first of which sums it up."""
    return [_prose(" ".join(each.split())) for each in command.help.strip().split("\n\n")]


def _command(name: str, command: Any, own: list[Any]) -> Iterator[str]:  # noqa: ANN401
    """What a command does, how it is called, examples, and what it takes."""
    yield f"## coarsen {name} {{ #coarsen-{name} }}"
    yield _summary(command)[0]
    usage = command.get_usage(typer.Context(command, info_name=f"coarsen {name}")).removeprefix("Usage:")
    yield f"``` {{ .text .no-copy }}\n{' '.join(usage.split())}\n```"
    for paragraph in command.help.strip().split("\n\n")[1:]:
        text = " ".join(paragraph.split())
        example = _EXAMPLE.match(text)
        yield f"```sh\n{example['command']}\n```" if example else _prose(text)
    others = "**Options**, besides [those of every command](#options-of-every-command)"
    for kind, heading in (("argument", "**Arguments**"), ("option", others)):
        items = [_parameter(each, command, f"coarsen-{name}") for each in own if each.param_type_name == kind]
        yield from (heading, *items) if items else ()


def _parameter(parameter: Any, command: Any, anchor: str = "") -> str:  # noqa: ANN401
    """An argument or an option: how it is written, what it means, and notes such as its default."""
    written, text = parameter.get_help_record(typer.Context(command))
    # Types say something where they list what may be given: "<item|group>", not "<path>".
    written = re.sub(r"<list\[(.+)\]>", r"<\1>", written)
    written = re.sub(r" <\w+>$", "", written) if parameter.param_type_name == "argument" else written
    notes = [note for found in _NOTE.finditer(text) for note in found["note"].split("; ")]
    long = re.search(r"--[\w-]+", written)
    place = f'<span id="{anchor}{long[0]}"></span>' if anchor and long else ""
    names = ", ".join(f"`{name}`" for name in written.split(", ") if name)
    spans = " ".join(f'<span class="note">{_prose(note)}</span>' for note in notes)
    return f"{place}{names}\n:   {_prose(_NOTE.sub('', text).strip())} {spans}".rstrip()


def _prose(text: str) -> str:
    """A sentence of the help as Markdown: options as code, nothing else special; what is code stays so."""

    def mended(found: re.Match[str]) -> str:
        if found["special"]:
            return f"\\{found['special']}"
        return f"`{found['option']}`" if found["option"] else found["code"]

    return _SPECIAL.sub(mended, text)


# The reference of a package: what mkdocstrings is asked for so that it shows the public names and no others.

PACKAGES = (
    "coarsen",
    "coarsen.features",
    "coarsen.models",
    "coarsen.opencl_bench",
    "coarsen.opencl_bench.plots",
    "coarsen.stream",
)
# As `::: coarsen.models` stands in a page, with the names that the package offers.
_PACKAGE = """\
::: {package}
    options:
      members: [{members}]
      show_root_heading: false
      show_root_toc_entry: false
      summary: {{attributes: true, classes: true, functions: true, modules: false}}
"""
# What is asked for by itself: a function with the name of a module, which is what the sources have under it, and a
# class of many fields, which a table of the page lists.
_APART = """\
::: {origin}.{name}
    options:
      show_signature: {has_signature}
"""
_WITHOUT_SIGNATURE = ("Features", "MechanismFeatures")


def package_in_markdown(package: str) -> str:
    """The names in `__all__` of a package, each with its signature and its docstring."""
    module = import_module(package)
    names = [name for name in module.__all__ if not name.startswith("_")]
    apart = [name for name in names if name in _WITHOUT_SIGNATURE or _is_shadowed(package, name)]
    # YAML reads a word in quotes as text, whatever it is.
    members = ", ".join(f'"{name}"' for name in names if name not in apart)
    requests = [_PACKAGE.format(package=package, members=members), *(_apart(module, name) for name in apart)]
    return "\n".join(requests)


def _is_shadowed(package: str, name: str) -> bool:
    return f"{package}.{name}" in sys.modules


def _apart(module: ModuleType, name: str) -> str:
    origin = getattr(module, name).__module__
    return _APART.format(origin=origin, name=name, has_signature=str(name not in _WITHOUT_SIGNATURE).lower())


# The package as one tree, as it is when it is installed: `features/` is `coarsen/features` there, and so on.
#
#     pyproject.toml: [tool.setuptools.package-dir] ─▶ temporary folder of symbolic links ─▶ where griffe looks
#
# What reads sources without importing them knows nothing of setuptools' mapping of folders to packages. With this
# view the reference of Python is made of the tree that it stands in, however the package is installed.


def package_view(root: Path) -> Path:
    """A folder with the packages of the repository at `root`; it vanishes with the process."""
    return Path(_linked(root).name)


@cache
def _linked(root: Path) -> TemporaryDirectory[str]:
    view = TemporaryDirectory(prefix="packages-")
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    folders: dict[str, str] = settings["tool"]["setuptools"]["package-dir"]
    # Shorter names first: a package's own folder is made before what is linked into it.
    for package, folder in sorted(folders.items()):
        place = Path(view.name, *package.split("."))
        if "." in package:
            place.symlink_to(root / folder)
        else:
            place.mkdir()
            for entry in (root / folder).iterdir():
                (place / entry.name).symlink_to(entry)
    return view


GENERATED: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "commands": commands_in_markdown,
        "exit codes": exit_codes_in_markdown,
        "features": features_in_markdown,
        **{f"public names of {package}": partial(package_in_markdown, package) for package in PACKAGES},
    }
)
_MARK = re.compile(r"^<!-- generated: (?P<what>.+) -->$", re.MULTILINE)


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell griffe, before mkdocstrings asks it, where the packages are."""
    handler: dict[str, Any] = config.plugins["mkdocstrings"].config["handlers"]["python"]
    handler["paths"] = [str(package_view(_root(config)))]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks: a page each, its figures, and the file to be downloaded."""
    for path in sorted((_root(config) / "notebooks").glob("*.ipynb")):
        text, figures = notebook_page(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        files.append(File.generated(config, f"notebooks/{path.name}", content=path.read_bytes()))
        for name, figure in figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=figure))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put generated text where a page asks for it."""
    return _MARK.sub(lambda mark: GENERATED[mark["what"]](), markdown)


def _root(config: MkDocsConfig) -> Path:
    """The repository's folder."""
    return Path(config.config_file_path).parent
