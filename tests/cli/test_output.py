"""What is printed: lines, and JSON that every reader takes."""

from __future__ import annotations

import json
import logging
import math
import sys
from pathlib import Path

import pytest

from coarsen.cli.messages import logging_to_stderr, note, say
from coarsen.cli.output import print_json, print_line, print_table, write_result
from coarsen.errors import aligned
from tests.cli.test_tables import Terminal

HOSTILE = "\x1b]0;owned\x07sgemm\x1b[2J"
SHOWN = r"\x1b]0;owned\x07sgemm\x1b[2J"


def test_json_has_null_for_numbers_that_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"high": math.inf, "list": [1.5, math.nan, (-math.inf, 2)], "text": "NaN", "none": None, "yes": True}
    print_json(value)
    text = capsys.readouterr().out
    assert json.loads(text, parse_constant=pytest.fail) == {
        "high": None,
        "list": [1.5, None, [None, 2]],
        "text": "NaN",
        "none": None,
        "yes": True,
    }


def test_a_warning_that_comes_back_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        with logging_to_stderr():
            for _ in range(3):
                logging.getLogger("coarsen").warning("process %d measures on this device", 7)
                note("a row")
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert warnings == ["coarsen: warning: process 7 measures on this device"] * 2


def test_wrapped_lines_have_no_spaces_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    print_line("a sentence that is wrapped between words")
    print_line()
    assert terminal.getvalue() == "a sentence that is\nwrapped between\nwords\n\n"


@pytest.mark.parametrize(
    "text", ["", "plain", "×2 ◀ chosen  ", "two\nlines \n", "a\ttab", "日本 wide", HOSTILE, "[bold]"]
)
def test_what_goes_to_no_terminal_is_as_rich_has_it(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed() -> str:
        print_line(text)
        print_table(["first", "number", "last"], [[text, "1.5", ""], ["b", "12", text]], numbers=["number"])
        return capsys.readouterr().out

    plain = printed()
    monkeypatch.setattr("coarsen.cli.output._is_plain", lambda _: False)
    assert printed() == plain


def test_colours_that_are_asked_for_are_there_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    print_table(["heading"], [["cell"]])
    assert "\x1b[1mheading" in capsys.readouterr().out


def test_escape_sequences_in_names_are_shown_and_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to_stderr():
        note(HOSTILE)
    say("error", HOSTILE)
    assert capsys.readouterr().err == f"coarsen: note: {SHOWN}\ncoarsen: error: {SHOWN}\n"
    assert list(aligned(["kernel"], [[f"{HOSTILE}\n"]])) == ["kernel", rf"{SHOWN}\n"]
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_line(HOSTILE)
    print_table(["kernel"], [[HOSTILE]])
    assert terminal.getvalue() == f"{SHOWN}\nkernel\n{SHOWN}\n"


def test_a_kernel_is_written_to_a_file_as_it_is(tmp_path: Path) -> None:
    write_result(f"// {HOSTILE}\n", tmp_path / "kernel.cl")
    assert (tmp_path / "kernel.cl").read_text() == f"// {HOSTILE}\n"
