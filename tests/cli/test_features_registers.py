"""`coarsen apply --features registers:CHIP`: its rows, its JSON, and what it says where there are no figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.backend import registers
from coarsen.backend.registers import amd_registers
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.features import FACTORS
from coarsen.frontend.lower import lower
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel

Run = Callable[..., Any]


def test_json_holds_estimate_and_figures(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "registers:tahiti", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    kernel = lower(scale)
    use = amd_registers(coarsen_kernel(kernel, [Coarsening(4)]))
    found = json.loads(outcome.out)["registers"]
    assert list(found) == [str(factor) for factor in FACTORS]
    assert found["4"] == {
        "live_words": maximum_live_words(analyse(kernel, 0), 4),
        "chip": "tahiti",
        "per_work_item": use.per_work_item,
        "scalar": use.scalar,
        "occupancy": use.occupancy,
        "scratch_bytes": use.scratch_bytes,
    }


def test_the_table_follows_that_of_the_features(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "registers:tahiti")
    plain = run("apply", scale, "--features", "paper")
    assert outcome.out.startswith(plain.out)
    added = outcome.out.removeprefix(plain.out).splitlines()
    assert added[1].split() == ["on", "tahiti", *map(str, FACTORS)]
    names = ["live words", "registers per work-item", "scalar registers", "occupancy", "scratch bytes"]
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
    outcome = run("apply", path, "--features", "registers:tahiti")
    assert outcome.code == 3
    assert outcome.error.startswith(f"{path}:1:35: printf has no form")
