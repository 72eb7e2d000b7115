"""`coarsen loadings`: the loadings as a table, as JSON and drawn, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.features import FEATURES
from coarsen.models import load_model

Run = Callable[..., Any]


def test_the_table_names_each_component_and_shows_the_large_loadings(run: Run) -> None:
    outcome = run("loadings", "--device", "Tahiti")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    projection = load_model("tahiti").projection
    count = len(projection.shares)
    assert lines[0] == f"tahiti: {count} components hold 95 % of the variance of 34 inputs"
    assert [line.split()[0] for line in lines[3 : 3 + count]] == [str(number + 1) for number in range(count)]
    stores = next(line for line in lines if line.startswith("stores "))
    shown = [loading for loading in projection.loadings[14] if abs(loading) >= 0.3]
    assert stores.split()[1:] == [f"{loading:.2f}" for loading in shown]


def test_json_has_all_loadings(run: Run) -> None:
    found = json.loads(run("loadings", "-d", "fermi", "-f", "json").out)
    assert found["model"] == "fermi"
    loadings = load_model("fermi").projection.loadings
    assert len(found["components"]) == loadings.shape[1]
    first = found["components"][0]
    assert list(first["features"]) == list(first["growths"]) == [feature.name for feature in FEATURES]
    assert first["features"]["barriers"] == loadings[16, 0]
    assert first["growths"]["basic_blocks"] == loadings[17, 0]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_figure_is_written(ending: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / f"loadings.{ending}"
    outcome = run("loadings", "-d", "kepler", "-o", path)
    assert (outcome.code, outcome.err) == (0, f"coarsen: note: written: {path}\n")
    assert path.stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-d", "gameboy"), 4, "'gameboy' is neither a known device nor an OpenCL device of this machine"),
        (("-d", "h200"), 4, "there is no cascade of h200 (NVIDIA H200); cascades: cypress, fermi, kepler, tahiti"),
        (("-d", "tahiti", "-o", "loadings.gif"), 2, "loadings.gif: a figure's file ends in .png, .svg or .pdf"),
        (("-d", "tahiti", "--models", "nowhere"), 2, "--models nowhere: there is no such folder"),
        (("-d",), 2, "option '-d' requires an argument (try 'coarsen loadings --help')"),
        ((), 2, "missing option '-d' / '--device'"),
    ],
)
def test_refusals(words: tuple[str, ...], code: int, message: str, run: Run) -> None:
    outcome = run("loadings", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error.startswith(message)


def test_drawing_needs_matplotlib(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    outcome = run("loadings", "-d", "tahiti", "-o", "loadings.svg")
    assert (outcome.code, outcome.error) == (2, "drawing needs more packages: pip install 'coarsen[bench]'")


def test_a_narrow_terminal_gets_several_tables_with_whole_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("loadings", "-d", "tahiti").out
    monkeypatch.setattr("coarsen.cli.output._UNLIMITED_WIDTH", 80)
    narrow = run("loadings", "-d", "tahiti").out
    assert max(map(len, narrow.splitlines())) <= 80
    assert [line for line in narrow.splitlines() if line.startswith("input ")][1:]

    def numbers(text: str) -> list[str]:
        return sorted(re.findall(r"-?0\.\d\d", text))

    assert numbers(narrow) == numbers(whole)
    assert all(any(line.startswith(f"{name} ") for line in narrow.splitlines()) for name in ("stores", "branches"))
