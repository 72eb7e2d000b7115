"""Output on standard error: errors, notes and the log of the package."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from coarsen.base.bug_report import TRACEBACKS
from coarsen.errors import NOTE, printable

_log = logging.getLogger("coarsen")

# The exit code of a command that the user interrupted.
INTERRUPTED = 130
_WORDS = {logging.DEBUG: "debug", logging.INFO: "info", NOTE: "note", logging.WARNING: "warning"}


@dataclass
class Settings:
    """The common options of this run of the command line; `command` is how the user calls it."""

    debug: bool = False
    command: str = "coarsen"


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


class NowAndThen:
    """Tells when a line about the progress is due: at most one in some seconds.

    Args:
        seconds: between two lines.
        clock: seconds since any moment.

    Attributes:
        start: when it was made.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self.start = self._last = clock()

    def is_due(self) -> bool:
        """Return True if it is time for a line, which is then taken for said."""
        now = self._clock()
        is_due = now - self._last >= self._seconds
        self._last = now if is_due else self._last
        return is_due


def note(message: str) -> None:
    """Say something that the user should know, unless -q was given."""
    _log.log(NOTE, "%s", message)


def say(kind: str, message: str = "") -> None:
    """Print a line on standard error that no option silences: `coarsen: error: message`."""
    with suppress(BrokenPipeError):  # `2>&1 | head` no longer listens, and the exit code still counts
        sys.stderr.write(": ".join(part for part in ("coarsen", kind, printable(message)) if part) + "\n")


def say_interrupted(measured: int, location: str) -> None:
    """Say that so many rows were measured before the user interrupted, and where they are."""
    rows = "1 row was" if measured == 1 else f"{measured} rows were"
    say("interrupted", f"{rows} measured and stored in {location}; the same command goes on from there")
