"""`coarsen bench` and `coarsen bench pack` refuse what names no kernel of free launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("command", [("bench", "-d", "intel"), ("bench", "pack")])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--free-launch", "3"), "--free-launch takes the first and the last number, 0-99, not '3'"),
        (("--free-launch", "5-3"), "--free-launch takes the first and the last number, 0-99, not '5-3'"),
        (("launch-1",), "no benchmark 'launch-1'; a kernel of free launch is called launch-SEED-NUMBER"),
        (
            ("launch-0-1", "--preset", "paper"),
            "launch-0-1: no preset 'paper'; there are test, few, caches",
        ),
    ],
)
def test_refusals(
    command: tuple[str, ...], words: tuple[str, ...], message: str, tmp_path: Path, run: Run
) -> None:
    where = ("-o", tmp_path / "pack") if "pack" in command else ("--store", tmp_path / "store")
    done = run(*command, *words, *where)
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith(message)
    assert list(tmp_path.iterdir()) == []
