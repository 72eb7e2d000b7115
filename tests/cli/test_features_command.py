"""`coarsen features`: the table and its JSON."""

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
    assert [found["features"]["2"]["divergent_regions"] for found in along] == [2, 1]
    assert [found["features"]["2"]["uniform_loads"] < found["features"]["2"]["loads"] for found in along] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--local-size", "64"), "--local-size is for --work"),
        (
            ("--work", "--local-size", "64x0"),
            "--local-size takes one to three sizes, such as 64 or 16x16, not '64x0'",
        ),
        (
            ("--work", "--local-size", "1x1x1x1"),
            "--local-size takes one to three sizes, such as 64 or 16x16, not '1x1x1x1'",
        ),
    ],
)
def test_local_sizes_that_are_refused(scale: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    outcome = run("features", scale, *words)
    assert outcome.code != 0
    assert message in outcome.error


def test_a_chip_without_a_name_is_refused(scale: Path, run: Run) -> None:
    outcome = run("features", scale, "--registers", "")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith("no registers are known of ''")
