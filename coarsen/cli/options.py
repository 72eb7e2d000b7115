"""The options that several commands share, each with its help, and what they mean to the package."""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from coarsen.cli.declared import argument, option
from coarsen.cli.messages import Settings, set_level
from coarsen.cli.output import Format
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
        # Imported late: it reads what is installed.
        from importlib.metadata import version

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


def kernel_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that names a kernel."""
    return option("The kernel; needed where the file has several.", "NAME", "-k --kernel")


def file_argument() -> Any:  # noqa: ANN401 (as `field`)
    """Return the argument that names a kernel's file."""
    return argument("OpenCL C source, C with affine loops (.c), or LLVM IR (.ll, .bc).", "KERNEL.cl")


def dimension_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that names a dimension."""
    help_text = "The dimension of the NDRange: 0, 1 or 2."
    return option(help_text, "DIMENSION", "--dim", default=0, parser=whole_number)


def format_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that chooses a table or JSON."""
    return option("A table to read, or JSON.", None, "-f --format", default=Format.TABLE)


def preset_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that names the sizes."""
    return option("The sizes: test, cpu, gpu, paper.", "NAME", "--preset", default="cpu")


def seed_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that seeds what is drawn."""
    return option("Seed of the inputs, and of a search.", "NUMBER", "--seed", default=0, min=0)


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The options that say how a kernel's source is built."""

    define: list[str] | None = option("Define a macro. May be repeated.", "NAME[=VALUE]", "-D --define")
    include: list[str] | None = option("Look for included files there. May be repeated.", "FOLDER", "-I --include")
    cl_std: str | None = option("The OpenCL C standard, CL2.0 for example.  [default: CL1.2]", "STANDARD")
    build_option: list[str] | None = option("Any other OpenCL build option. May be repeated.", "OPTION")

    @property
    def build_options(self) -> str:
        """Return the build options as one string. Raises as `build_options` does."""
        return build_options(self.define, self.include, self.cl_std, self.build_option)


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


def parsed_size(option: str, text: str | None) -> tuple[int, ...] | None:
    """Return the sizes given to an option; None where it wasn't given. Raises InvalidInputError."""
    if text is None:
        return None
    size = local_size_of(text)
    if size is None:
        usual = "4096 or 512x512" if option == "--global-size" else "64 or 16x16"
        raise InvalidInputError(f"{option} takes one to three sizes, such as {usual}, not '{text}'")
    return size


# Folders named on the command line: those to read from, and those to write into.


def existing_folder(option: str, folder: Path | None) -> Path | None:
    """Return a folder to read from, None where the option isn't given.

    Raises InvalidInputError where there is none.
    """
    if folder is not None and not folder.is_dir():
        raise InvalidInputError(f"{option} {folder}: there is no such folder")
    return folder


def check_folder(folder: Path) -> None:
    """Check that the results of long work can be written into a folder, which is made then.

    Raises InvalidInputError where it can't be made, or not written into.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise InvalidInputError(f"{folder}: no folder can be made there: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{folder}: can't be written: {there} is closed to you")
