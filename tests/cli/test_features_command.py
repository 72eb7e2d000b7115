"""`coarsen features`: the table and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coarsen.features import FACTORS, FEATURES, feature_table
from coarsen.frontend.lower import lower

Run = Callable[..., Any]


def test_json_has_every_feature_at_each_factor(scale: Path, run: Run) -> None:
    outcome = run("features", scale, "--factors", "4,1,4", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    table = feature_table(lower(scale), 0, (1, 4))
    assert json.loads(outcome.out) == {
        "kernel": "scale",
        "dimension": 0,
        "features": {"1": dict(table.at(1).by_name()), "4": dict(table.at(4).by_name())},
    }


def test_the_table_has_a_row_per_feature(scale: Path, run: Run) -> None:
    outcome = run("features", scale, "--dim", 1)
    lines = outcome.out.splitlines()
    assert lines[0] == "kernel scale along dimension 1, by factor"
    assert lines[2].split() == ["feature", *map(str, FACTORS)]
    assert [line.split("  ")[0] for line in lines[3:]] == [f.name.replace("_", " ") for f in FEATURES]
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_dimension_matters(scale: Path, run: Run) -> None:
    along = [json.loads(run("features", scale, "--dim", d, "-f", "json").out) for d in (0, 1)]
    assert [found["features"]["2"]["divergent_regions"] for found in along] == [2, 0]
