"""`coarsen apply --features registers:CHIP`: its rows, its JSON, and what it says where there are no figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.backend import registers
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.features import FACTORS
from coarsen.frontend.lower import lower
from coarsen.transform.coarsen import analyse

Run = Callable[..., Any]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a kernel take as many registers as its PTX has stores to global memory."""

    def report(ptx: str, target: str) -> str:
        return f"48 bytes stack frame\nUsed {sum('st.global' in line for line in ptx.splitlines())} registers"

    monkeypatch.setattr(registers, "ptxas_report", report)


def test_json_holds_estimate_and_figures(scale: Path, run: Run, counted: None) -> None:
    outcome = run("apply", scale, "--features", "registers:sm_90", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)["registers"]
    assert list(found) == [str(factor) for factor in FACTORS]
    estimated = {"live_words": maximum_live_words(analyse(lower(scale), 0), 4)}
    assert found["4"].pop("per_work_item") > found["1"]["per_work_item"] > 0
    assert found["4"] == {**estimated, "chip": "sm_90", "scratch_bytes": 48}


def test_the_table_follows_that_of_the_features(scale: Path, run: Run, counted: None) -> None:
    outcome = run("apply", scale, "--features", "registers:sm_90")
    plain = run("apply", scale, "--features", "paper")
    assert outcome.out.startswith(plain.out)
    added = outcome.out.removeprefix(plain.out).splitlines()
    assert added[1].split() == ["on", "sm_90", *map(str, FACTORS)]
    names = ["live words", "registers per work-item", "scratch bytes"]
    assert all(line.startswith(name) for line, name in zip(added[2:], names, strict=True))


@pytest.mark.parametrize(
    ("chip", "code", "message"),
    [("cray", 2, "no registers are known of 'cray'"), ("nvidia", 4, "there is no ptxas on PATH")],
)
def test_without_figures_it_says_why(
    scale: Path, run: Run, monkeypatch: pytest.MonkeyPatch, chip: str, code: int, message: str
) -> None:
    monkeypatch.setattr(registers, "find_ptxas", lambda: None)
    outcome = run("apply", scale, "--features", f"registers:{chip}")
    assert outcome.code == code
    assert message in outcome.error
    assert outcome.out == ""


def test_a_refusal_names_the_file(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "tell.cl"
    path.write_text('kernel void tell(global int *a) { printf("%d", a[0]); }')
    outcome = run("apply", path, "--features", "registers:nvidia")
    assert outcome.code == 3
    assert outcome.error.startswith(f"{path}:1:35: printf has no counterpart in PTX")
