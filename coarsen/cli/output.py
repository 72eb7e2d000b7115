"""Output on standard output or into a file: tables, JSON, kernels.

Characters that control a terminal are escaped here: names in results and packs come from other people.
"""

from __future__ import annotations

import enum
import json
import math
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from coarsen.base.codec import encoded
from coarsen.base.files import replace_file
from coarsen.errors import GAP, InvalidInputError, aligned, printable, printable_in_line

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
# Wide enough that nothing is wrapped if the output is not a terminal.
_UNLIMITED_WIDTH = 10_000
# Variables of the environment by which rich takes for a terminal what is none.
_ASKS_FOR_COLOURS = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})


class Format(enum.StrEnum):
    """The format in which a command prints its data."""

    TABLE = "table"
    JSON = "json"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things, whose plural has an s if it isn't given: `1 row`, `2 rows`, `2 processes`."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, limit: int) -> str:
    """Return a text in at most `limit` characters, cut where it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def picked(record: object, names: str) -> dict[str, Any]:
    """Return fields or properties of a record for JSON, by their names, which blanks divide."""
    return {name: encoded(getattr(record, name)) for name in names.split()}


def print_json(value: object) -> None:
    """Print a value as JSON, which knows no numbers but finite ones: others become null."""
    sys.stdout.write(json_text(value))


def json_text(value: object) -> str:
    """Return the text that `print_json` prints."""
    try:
        text = json.dumps(value, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_with_nulls(value), indent=2, allow_nan=False)
    return text + "\n"


def _with_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: _with_nulls(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_line(text: str = "") -> None:
    """Print a line, wrapped between words where a terminal is narrower."""
    if _is_plain([text]):
        _write_text("".join(f"{line.rstrip()}\n" for line in printable(text).split("\n")))
        return
    terminal = console()
    with terminal.capture() as capture:
        terminal.print(printable(text), soft_wrap=not sys.stdout.isatty(), markup=False)
    _write_text("".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1]))


def print_lines(*lines: str) -> None:
    """Print lines, as `print_line` does."""
    for line in lines:
        print_line(line)


def print_fields(named: Iterable[tuple[str, str]]) -> None:
    """Print fields by name, one a line; those without a value are left out."""
    print_table(["field", "value"], ([name, value] for name, value in named if value))


def record_fields(record: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (a dataclass of any kind)
    """Yield the fields of a record, and those of records in it, each as it is called and as a text."""
    for each in fields(record):
        value = getattr(record, each.name)
        if is_dataclass(value) and type(value).__str__ is object.__str__:
            yield from record_fields(value)
        else:
            yield each.name.replace("_", " "), _text_of(value)


def _text_of(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in value)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def print_records(
    records: Iterable[T], columns: Mapping[str, Callable[[T], str]], numbers: Sequence[str] = ()
) -> None:
    """Print a row for each record: under each heading what its function returns. `numbers` as of `print_table`."""
    print_table([*columns], [[text(record) for text in columns.values()] for record in records], numbers)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Print rows under headings.

    Args:
        headings: one per column.
        rows: as many texts each as there are columns.
        numbers: the headings of the columns that are set to the right.
    """
    rows = list(rows)
    if _is_plain([*headings, *(cell for row in rows for cell in row)]):
        _write_text("".join(f"{line}\n" for line in aligned(headings, rows, numbers)))
        return
    # Imported late: it takes longer than all else that a command with a single line of output does.
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    terminal = console()
    cells = [[printable_in_line(cell) for cell in row] for row in rows]
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    with terminal.capture() as capture:
        terminal.print(table)
    _write_text("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def _is_plain(texts: Iterable[str]) -> bool:
    """Return True where texts go to no terminal and each letter takes one place: they do without rich."""
    if sys.stdout.isatty() or not _ASKS_FOR_COLOURS.isdisjoint(os.environ):
        return False
    return all((text.isascii() and text.isprintable()) or all(map(_takes_one_place, text)) for text in texts)


def _takes_one_place(letter: str) -> bool:
    is_wide = unicodedata.east_asian_width(letter) in ("W", "F")
    return not is_wide and letter != "\t" and unicodedata.category(letter) not in ("Mn", "Me", "Cf")


def _write_text(text: str) -> None:
    """Write to standard output; a device's name may have characters that its encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def console() -> Console:
    """Return a rich console on standard output: coloured and wrapped on a terminal, plain and whole elsewhere."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            """Leave a broken pipe to the command line, which ends quietly; rich would exit with 1."""
            raise BrokenPipeError

    terminal = sys.stdout.isatty()
    width = None if terminal else _UNLIMITED_WIDTH
    return PlainConsole(file=sys.stdout, width=width, highlight=False, emoji=False)


def check_writable(path: Path) -> None:
    """Check that a file can be written, before the long work that fills it. Raises InvalidInputError."""
    folder = path.absolute().parent
    if path.is_dir():
        raise InvalidInputError(f"{path}: can't be written: it is a folder")
    if not folder.is_dir():
        raise InvalidInputError(f"{path}: can't be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{path}: can't be written: {folder} is closed to you")


def write_result(content: str | bytes, path: Path | None) -> None:
    """Write a kernel to a file, or to standard output.

    The file is replaced in one step: it has its old content or the whole new one, whatever happens.

    Raises:
        InvalidInputError: the file can't be written; bytes would go to a terminal.
    """
    data = content.encode() if isinstance(content, str) else content
    if path is not None:
        replace_file(data, path)
        return
    if sys.stdout.isatty():
        if isinstance(content, bytes):
            raise InvalidInputError("binary output does not go to a terminal; name a file with -o")
        data = printable(content).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
