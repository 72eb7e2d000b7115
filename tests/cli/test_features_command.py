"""`coarsen apply --features`: the table and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.features import FACTORS, FEATURES, feature_table
from coarsen.frontend.lower import lower

Run = Callable[..., Any]


def test_json_has_every_feature_at_each_factor(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    table = feature_table(lower(scale))
    assert json.loads(outcome.out) == {
        "kernel": "scale",
        "dimension": 0,
        "features": {str(factor): dict(table.at(factor).by_name()) for factor in FACTORS},
    }


def test_the_table_has_a_row_per_feature(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "--dim", 1)
    lines = outcome.out.splitlines()
    assert lines[0] == "kernel scale along dimension 1, by factor"
    assert lines[2].split() == ["feature", *map(str, FACTORS)]
    assert [line.split("  ")[0] for line in lines[3:]] == [f.name.replace("_", " ") for f in FEATURES]
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_dimension_matters(scale: Path, run: Run) -> None:
    along = [json.loads(run("apply", scale, "--features", "--dim", d, "-f", "json").out) for d in (0, 1)]
    assert [found["features"]["2"]["divergent_regions"] for found in along] == [2, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--local-size", "64"), "--local-size goes with --tile, --explain and --report"),
        (("--factor", "2", "--factor", "4"), "--features is of the kernel as it is"),
        (("--report",), "give one of --report and --features: each writes something else"),
        (("--wide-accesses",), "--features is of the kernel as it is"),
        (("--dim", "0", "--dim", "1"), "--features is of the kernel as it is"),
        (("--dim", "3"), "the dimension must be 0, 1 or 2"),
    ],
)
def test_what_does_not_go_with_features_is_said(
    scale: Path, run: Run, words: tuple[str, ...], message: str
) -> None:
    outcome = run("apply", scale, "--features", *words)
    assert outcome.code != 0
    assert message in outcome.error
