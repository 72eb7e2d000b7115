"""Every error that coarsen raises on purpose, with the exit code that the command line gives it."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# The level of messages that are shown unless -q is given, like warnings, but nothing went wrong.
NOTE = (logging.INFO + logging.WARNING) // 2

GAP = 2
"""The blanks between columns."""
_KEPT = "\n\t"
_LONGEST_LINE = 1000
"""The longest line of a message, in letters: quoted text may have any length."""


def printable(text: str) -> str:
    r"""Return a text with all letters that are none written as escapes; blanks, tabs and line ends stay."""
    if text.isprintable():
        return text
    return "".join(letter if _is_shown(letter) else _escape(letter) for letter in text)


def printable_in_line(text: str) -> str:
    """As `printable`, with tabs and line ends written as escapes too: for a name that must not look like two."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def one_line(text: str) -> str:
    """Return a text, such as a compiler's log, as one line that any terminal and any database takes."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def readable(message: str) -> str:
    """Return a message, `printable`, whose lines lack their middles where they are too long."""
    return "\n".join(map(_shortened, printable(message).split("\n")))


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    end = _LONGEST_LINE // 4
    return f"{line[: _LONGEST_LINE - end - 1]}…{line[-end:]}"


def makes_readable(record: logging.LogRecord) -> bool:
    """Make a record's message `readable`: a filter for the package's logger, whoever's handlers it has."""
    message = record.getMessage()
    if (shown := readable(message)) != message:
        record.msg, record.args = shown, None
    return True


def aligned(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a table that may go to a file: plain, never wrapped.

    Args:
        headings: of the columns.
        rows: a cell for each column.
        numbers: the headings of columns that are set to the right.
    """
    table = [list(headings), *([printable_in_line(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    to_the_right = [heading in numbers for heading in headings]
    for row in table:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_the_right, strict=True)
        )
        yield (" " * GAP).join(cells).rstrip()


def _is_shown(letter: str) -> bool:
    return letter.isprintable() or letter in _KEPT or unicodedata.category(letter) == "Zs"


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in a kernel's source: file name as clang saw it (empty when unknown), line and column from 1."""

    line: int
    column: int
    file: str = ""

    def __str__(self) -> str:
        prefix = f"{self.file}:" if self.file else ""
        return f"{prefix}{self.line}:{self.column}"


class CoarsenError(Exception):
    """Base of all errors of this package; `exit_code` is what the command line exits with.

    Messages quote files of any origin: what a terminal would obey is shown, wherever they are printed, and a line
    that is too long lacks its middle.
    """

    exit_code = 1

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(readable(each) if isinstance(each, str) else each for each in arguments))


class InternalError(CoarsenError):
    """A bug in coarsen itself; the message says what to report."""

    exit_code = 1


class InvalidInputError(CoarsenError):
    """A file, an option or a value that can't be used; the message is one line, clang's diagnostics apart."""

    exit_code = 2


class RefusalError(CoarsenError):
    """The kernel can't be coarsened faithfully.

    `code` is stable (for scripts), `reason` one sentence, `position` the source line and column if known.
    """

    exit_code = 3

    def __init__(self, code: str, reason: str, position: SourcePosition | None = None) -> None:
        self.code = code
        self.reason = reason
        self.position = position
        where = f"{position}: " if position else ""
        super().__init__(f"{where}{reason} [{code}]")


class DeviceError(CoarsenError):
    """No usable OpenCL device, an ambiguous or unknown one, or one that failed."""

    exit_code = 4


class VerificationError(CoarsenError):
    """A coarsened kernel gave other results than the original."""

    exit_code = 5
