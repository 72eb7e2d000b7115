"""RUN lines: commands at the head of a lesson, run in this process, their output held against its CHECK lines.

    // RUN: coarsen apply %s --factor 4 | filecheck %s
    // RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s --check-prefix REFUSED

`%s` is the lesson's own path, `not` expects the command to fail, `2>&1` adds what it says on standard error.
LLVM's own tests look like that, so a line can be tried in a shell; no shell runs it here.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options, parse_argv_options
from filecheck.parser import Parser

from coarsen.cli.main import main

_RUN = re.compile(r"^(?://|;) RUN: (.*)$", re.MULTILINE)
_BOTH_STREAMS = "2>&1"
# As much of a command's output, in characters, as a failed test shows.
_LONGEST_SHOWN = 8000


@dataclass(frozen=True)
class RunLine:
    """One RUN line.

    Attributes:
        words: the words after `coarsen`.
        fails: whether the command is expected to fail.
        with_errors: whether standard error is checked as well as standard output.
        options: the options of filecheck.
    """

    words: tuple[str, ...]
    fails: bool
    with_errors: bool
    options: Options


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    checked: str
    unchecked: str


def run_lines(lesson: Path) -> Iterator[RunLine]:
    """The RUN lines of a lesson. Raises ValueError where one is not of the form above."""
    for match in _RUN.finditer(lesson.read_text(encoding="utf-8")):
        yield parsed(match[1], lesson)


def parsed(line: str, lesson: Path) -> RunLine:
    """Parse what comes after `RUN:`. Raises ValueError."""
    words = [str(lesson) if word == "%s" else word for word in shlex.split(line)]
    command, bar, check = _parted(words)
    fails = command[:1] == ["not"]
    command = command[1:] if fails else command
    with_errors = command[-1:] == [_BOTH_STREAMS]
    command = command[:-1] if with_errors else command
    if not bar or command[:1] != ["coarsen"] or check[:1] != ["filecheck"]:
        raise ValueError(f"{lesson}: write 'RUN: [not] coarsen … [2>&1] | filecheck %s …' in place of '{line}'")
    return RunLine(tuple(command[1:]), fails, with_errors, parse_argv_options(check))


def _parted(words: list[str]) -> tuple[list[str], bool, list[str]]:
    if "|" not in words:
        return words, False, []
    bar = words.index("|")
    return words[:bar], True, words[bar + 1 :]


def outcome(line: RunLine) -> Outcome:
    """Run a line's command in this process."""
    # The command writes bytes where a result may be binary: streams with a buffer below them.
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if line.with_errors else err):
        code = main(list(line.words))
    return Outcome(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def complaint(line: RunLine, text: str) -> str:
    """Return what filecheck says about a text that the CHECK lines don't fit, and the text; empty if they fit."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = Matcher(line.options, FInput("output", text), Parser.from_opts(line.options)).run()
    return f"{errors.getvalue()}\n--- output ---\n{text[:_LONGEST_SHOWN]}" if code else ""
