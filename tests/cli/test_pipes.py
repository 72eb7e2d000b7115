"""A named pipe in the place of a file is refused at once: nobody may ever write to it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.cli.conftest import Run

COMMANDS = (
    ("results", "import", "PIPE.json"),
    *(("results", "import", f"PIPE.{suffix}", "--store", "OTHER.sqlite") for suffix in ("json", "jsonl")),
    ("results", "import", "PIPE.parquet", "--store", "OTHER.sqlite"),
    ("results", "ls", "--store", "PIPE.sqlite"),
    ("results", "show", "PIPE.tuned.json"),
    ("tune", "PIPE.toml"),
    ("bench", "PIPE.toml"),
    ("bench", "PIPE.toml", "--pack", "OTHER"),
    ("results", "plot", "--from", "PIPE.jsonl", "-o", "OTHER.svg"),
    ("predict", "PIPE.cl", "--device", "tahiti"),
    ("apply", "PIPE.cl", "--factor", "2"),
)


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """What waits for a pipe is interrupted after a minute, and fails."""

    def fail(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail("it waits for the pipe")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_pipe_is_refused(words: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    (name,) = (word for word in words if word.startswith("PIPE"))
    pipe = tmp_path / name
    os.mkfifo(pipe)
    result = run(*(str(tmp_path / word) if word.startswith(("PIPE", "OTHER")) else word for word in words))
    assert result.code == 2, result.err
    assert str(pipe) in result.err and "\n" not in result.err.strip()
