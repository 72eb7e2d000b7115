"""Output on standard error: errors, notes and the log of the package; and how a command ends.

Exit codes: 0 done · 1 internal error · 2 usage or invalid input · 3 the kernel can't be coarsened · 4 no
usable device · 5 verification failed · 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from coarsen.base.bug_report import TRACEBACKS, bug_message
from coarsen.base.files import whole_output
from coarsen.base.names import did_you_mean
from coarsen.errors import NOTE, CoarsenError, InternalError, InvalidInputError, RefusalError, printable

_log = logging.getLogger("coarsen")

# The exit code of a command that the user interrupted.
INTERRUPTED = 130
_WORDS = {logging.DEBUG: "debug", logging.INFO: "info", NOTE: "note", logging.WARNING: "warning"}


@dataclass
class Settings:
    """The common options of this run of the command line; `command` is how the user calls it."""

    debug: bool = False
    command: str = "coarsen"

    def show_tracebacks(self) -> None:
        """Show the traceback of each error."""
        self.debug = True
        TRACEBACKS.setLevel(logging.DEBUG)


class _OneLine(logging.Formatter):
    """`coarsen: warning: message`; of an error that did not end the command, its traceback below."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"coarsen: {_WORDS.get(record.levelno, 'error')}: {printable(record.getMessage())}"
        return f"{line}\n{printable(self.formatException(record.exc_info))}" if record.exc_info else line


class _Once(logging.Filter):
    """Lets a warning through once: of one that comes back with every row nobody learns more."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a warning that was there before, to the letter."""
        if record.levelno != logging.WARNING:
            return True
        message = record.getMessage()
        is_new = message not in self._said
        self._said.add(message)
        return is_new


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Show notes and warnings of the package on standard error while the context lasts."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    handler.addFilter(_Once())
    level, passes_on = _log.level, _log.propagate
    _log.addHandler(handler)
    _log.setLevel(NOTE)
    # A program that is run may set up logging of its own, and would say everything a second time.
    _log.propagate = False
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.setLevel(level)
        _log.propagate = passes_on
        TRACEBACKS.setLevel(logging.NOTSET)


def set_level(level: int) -> None:
    """Show messages from this level on: `logging.INFO` and `logging.ERROR` for `-v` and `-q`."""
    _log.setLevel(level)


def note(message: str) -> None:
    """Say something that the user should know, unless -q was given."""
    _log.log(NOTE, "%s", message)


def say(kind: str, message: str = "") -> None:
    """Print a line on standard error that no option silences: `coarsen: error: message`."""
    with suppress(BrokenPipeError):  # `2>&1 | head` no longer listens, and the exit code still counts
        sys.stderr.write(": ".join(part for part in ("coarsen", kind, printable(message)) if part) + "\n")


def raise_last(refusals: Sequence[RefusalError]) -> None:
    """Say of each kernel why it was refused; the last one's error ends the command. Raises RefusalError."""
    for refusal in refusals[:-1]:
        say("error", str(refusal))
    if refusals:
        raise refusals[-1]


def say_interrupted(measured: int, location: str) -> None:
    """Say how many rows were measured before the user interrupted, and where they are."""
    rows = "1 row was" if measured == 1 else f"{measured} rows were"
    say("interrupted", f"{rows} measured and stored in {location}; the same command goes on from there")


# How a command ends.

_NO_CHOICE = re.compile(r"'([^']*)' is not one of (.*)$")
_QUOTED = re.compile(r"'([^']*)'")


def exit_code_of(command: Callable[[], int], settings: Settings) -> int:
    """Run a command, its output written whole and its errors said in one line; return the exit code."""
    with logging_to_stderr():
        try:
            with whole_output():
                return command()
        except (Exception, KeyboardInterrupt) as error:
            return _exit_code(error, settings)


def _exit_code(error: BaseException, settings: Settings) -> int:
    """The exit code for what ended a command; says on standard error what went wrong."""
    if isinstance(error, BrokenPipeError):
        # The reader of standard output closed it, as `head` does; that is no error.
        _give_up_output()
        return 0
    if isinstance(error, KeyboardInterrupt):
        say("interrupted")
        return INTERRUPTED
    if settings.debug:
        traceback.print_exception(error, file=sys.stderr)
    if hasattr(error, "format_message"):  # typer's, whatever a version of it calls the class
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


def _usage_error(error: Any, settings: Settings) -> int:  # noqa: ANN401
    command = error.ctx.command_path if error.ctx is not None else settings.command
    # A value's own message comes after a prefix that newer versions of typer put there.
    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    choice = _NO_CHOICE.search(message)
    if choice is not None:
        message = f"{message}{did_you_mean(choice[1], _QUOTED.findall(choice[2]))}"
    say("error", f"{message[:1].lower()}{message[1:]} (try '{command} --help')")
    return int(error.exit_code)


def _give_up_output() -> None:
    """Discard what is left to be written: Python writes it when it exits, which must not fail as well."""
    with suppress(OSError):  # standard output may be no file at all, in another program
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
