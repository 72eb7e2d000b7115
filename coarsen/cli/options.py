"""The options that several commands share, each with its help, and what they mean to the package."""

from __future__ import annotations

import contextlib
import errno
import inspect
import logging
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from coarsen.cli.messages import Settings, set_level
from coarsen.cli.output import Format
from coarsen.cli.stores import STORE_HELP
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening


def _set_verbose(value: bool) -> bool:
    if value:
        set_level(logging.INFO)
    return value


def _set_quiet(value: bool) -> bool:
    if value:
        set_level(logging.ERROR)
    return value


def _set_debug(context: typer.Context, value: bool) -> bool:
    if value:
        context.ensure_object(Settings).show_tracebacks()
    return value


def _show_version(value: bool) -> bool:
    if value:
        typer.echo(f"coarsen {version('coarsen')}")
        raise typer.Exit
    return value


def whole_number(text: str | int) -> int:
    """Return a number from the command line.

    Raises typer's usage error, with what was given, for anything else.
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a whole number") from None


Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Say more on standard error.", callback=_set_verbose)
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.", callback=_set_quiet)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", callback=_set_debug)]
Version = Annotated[
    bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
]

KernelFile = Annotated[
    Path,
    typer.Argument(metavar="KERNEL.cl", help="OpenCL C source, or LLVM IR (.ll, .bc).", show_default=False),
]
KernelName = Annotated[
    str | None,
    typer.Option("-k", "--kernel", metavar="NAME", help="The kernel; needed where the file has several."),
]
Dimension = Annotated[
    int,
    typer.Option(
        "--dim", metavar="DIMENSION", help="The dimension of the NDRange: 0, 1 or 2.", parser=whole_number
    ),
]
OutputFormat = Annotated[Format, typer.Option("-f", "--format", help="A table to read, or JSON.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", metavar="URL|FILE", help=STORE_HELP),
]

Definitions = Annotated[
    list[str] | None,
    typer.Option("-D", "--define", metavar="NAME[=VALUE]", help="Define a macro. May be repeated."),
]
IncludeFolders = Annotated[
    list[str] | None,
    typer.Option("-I", "--include", metavar="FOLDER", help="Look for included files there. May be repeated."),
]
Standard = Annotated[
    str | None,
    typer.Option(
        "--cl-std", metavar="STANDARD", help="The OpenCL C standard, CL2.0 for example.  [default: CL1.2]"
    ),
]
BuildOptions = Annotated[
    list[str] | None,
    typer.Option("--build-option", metavar="OPTION", help="Any other OpenCL build option. May be repeated."),
]


Command = Callable[..., None]


def with_parameters(made: Mapping[str, inspect.Parameter]) -> Callable[[Command], Command]:
    """Give a command further options, which come as one mapping: its parameter `chosen`.

    Args:
        made: by name, what typer makes an option of.
    """

    def with_options(function: Command) -> Command:
        signature = inspect.signature(function, eval_str=True)
        own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
        place = next(i for i, each in enumerate(own) if each.name == "chosen")
        every = [*own[:place], *made.values(), *own[place + 1 :]]

        def command(**given: Any) -> None:  # noqa: ANN401 (what typer has read)
            function(chosen={name: given.pop(name) for name in made}, **given)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {each.name: each.annotation for each in every}
        command.__signature__ = signature.replace(parameters=every)  # type: ignore[attr-defined]
        return command

    return with_options


def build_options(
    definitions: Iterable[str] | None = None,
    include_folders: Iterable[str] | None = None,
    standard: str | None = None,
    others: Iterable[str] | None = None,
) -> str:
    """Return the build options as one string, as PyOpenCL takes them.

    Raises:
        InvalidInputError: a definition without a name, an include folder that isn't there.
    """
    words: list[str] = []
    for definition in definitions or ():
        if not definition.partition("=")[0].isidentifier():
            raise InvalidInputError(f"-D needs a name and perhaps a value, not '{definition}'")
        words.append(f"-D{definition}")
    for folder in include_folders or ():
        if not Path(folder).is_dir():
            raise InvalidInputError(f"-I {folder}: there is no such folder")
        words.append(f"-I{folder}")
    words += [f"-cl-std={standard}"] if standard else []
    return shlex.join([*words, *(others or ())])


def checked_dimension(dimension: int) -> int:
    """Return the dimension. Raises InvalidInputError unless it is 0, 1 or 2."""
    return Coarsening(1, dimension).dimension


# Local sizes on the command line: `64`, `16x16`.

_SIZE = re.compile(r"[1-9][0-9]{0,8}([x×][1-9][0-9]{0,8}){0,2}")


def local_size_of(word: str) -> tuple[int, ...] | None:
    """`16x16` as a local size, in work-items; None for what is no size."""
    if not _SIZE.fullmatch(word.strip()):
        return None
    return tuple(int(extent) for extent in re.split("[x×]", word.strip()))


def launch_place(size: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    """Return a local size along three dimensions, those that are missing being 1; None for none."""
    if size is None:
        return None
    width, height, depth = (*size, 1, 1)[:3]
    return width, height, depth


def parsed_local_size(text: str | None) -> tuple[int, ...] | None:
    """Return the sizes given to `--local-size`; None where it wasn't given. Raises InvalidInputError."""
    if text is None:
        return None
    size = local_size_of(text)
    if size is None:
        raise InvalidInputError(f"--local-size takes one to three sizes, such as 64 or 16x16, not '{text}'")
    return size


# Folders named on the command line: those to read from, and those to write into.


def existing_folder(option: str, folder: Path | None) -> Path | None:
    """Return a folder to read from, None where the option isn't given.

    Raises InvalidInputError where there is none.
    """
    if folder is not None and not folder.is_dir():
        raise InvalidInputError(f"{option} {folder}: there is no such folder")
    return folder


@contextmanager
def prepared_folder(folder: Path | None) -> Iterator[None]:
    """Make the folder for the results of long work before it begins, since a failure at its end would lose them.

    A folder made here is removed again if it is still empty at the end. Does nothing without a folder.

    Raises:
        InvalidInputError: it can't be made, or not written into.
    """
    made = _made(folder) if folder is not None else ()
    try:
        yield
    finally:
        for each in made:
            with contextlib.suppress(OSError):  # it isn't empty
                each.rmdir()


def _made(folder: Path) -> tuple[Path, ...]:
    """Make a folder; those that were made, from the innermost on."""
    missing = tuple(each for each in (folder, *folder.parents) if not each.exists())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: no folder can be made there: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{folder}: can't be written: {os.strerror(errno.EACCES)}")
    return missing
