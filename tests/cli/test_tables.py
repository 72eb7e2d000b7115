"""Tables on terminals of several widths: nothing is cut off, and words stay whole where there is room for them."""

from __future__ import annotations

import io
import re
import sys

import pytest

from coarsen.cli.output import print_table

HEADINGS = (
    "kernel",
    "device",
    "baseline",
    "best configuration",
    "speed-up",
    "verified against",
    "measured",
    "failed",
)
ROWS = (
    (
        *("blur", "AMD EPYC (PoCL)", "16×16, -D TILE=16"),
        "factor 2 along dimension 0 with stride 8, local size 16×16, -D TILE=16",
        *("no significant difference (0.98 to 1.01)", "uncoarsened kernel", "12 of 12", "0"),
    ),
    (
        *("sgemm", "AMD EPYC (PoCL)", "8×8", "uncoarsened, local size 8×8"),
        *("1.00 (1.00 to 1.00)", "reference", "3 of 60", "57"),
    ),
)


class Terminal(io.StringIO):
    """Standard output as a terminal has it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def printed(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    print_table(HEADINGS, ROWS, numbers=("failed",))
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 250])
def test_nothing_is_cut_off(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(width, monkeypatch)
    assert all(len(line) <= width for line in text.splitlines())
    letters = sorted("".join("".join((*HEADINGS, *(cell for row in ROWS for cell in row))).split()))
    assert sorted("".join(text.split())) == letters


@pytest.mark.parametrize("width", [100, 120, 160])
def test_words_stay_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = printed(width, monkeypatch).split()
    assert {"configuration", "significant", "difference", "uncoarsened", "reference", "failed"} <= set(words)


def test_one_line_each_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(printed(250, monkeypatch).splitlines()) == 1 + len(ROWS)
