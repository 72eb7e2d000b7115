"""What is printed: lines, and JSON that every reader takes."""

from __future__ import annotations

import json
import math
import sys

import pytest

from coarsen.cli.output import print_json, print_line
from tests.cli.test_tables import Terminal


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


def test_wrapped_lines_have_no_spaces_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    print_line("a sentence that is wrapped between words")
    print_line()
    assert terminal.getvalue() == "a sentence that is\nwrapped between\nwords\n\n"
