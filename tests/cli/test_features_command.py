"""`coarsen apply --features`: the table and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.features import FACTORS, FEATURES, MECHANISM_FEATURES, feature_table, mechanism_table
from coarsen.frontend.lower import lower

Run = Callable[..., Any]


def test_json_has_every_feature_at_each_factor(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "paper", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    table = feature_table(lower(scale))
    assert json.loads(outcome.out) == {
        "kernel": "scale",
        "dimension": 0,
        "feature_set": 1,
        "features": {str(factor): dict(table.at(factor).by_name()) for factor in FACTORS},
    }


def test_the_table_has_a_row_per_feature(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--features", "paper", "--dim", 1)
    lines = outcome.out.splitlines()
    assert lines[0] == "kernel scale along dimension 1, by factor"
    assert lines[2].split() == ["feature", *map(str, FACTORS)]
    assert [line.split("  ")[0] for line in lines[3:]] == [f.name.replace("_", " ") for f in FEATURES]
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_dimension_matters(scale: Path, run: Run) -> None:
    along = [json.loads(run("apply", scale, "--features", "paper", "--dim", d, "-f", "json").out) for d in (0, 1)]
    assert [found["features"]["2"]["divergent_regions"] for found in along] == [2, 0]


def test_json_has_the_mechanism_features_on_demand(scale: Path, run: Run) -> None:
    words = ("apply", scale, "--features", "mechanism", "-f", "json")
    found = json.loads(run(*words, "--local-size", "32x4").out)
    table = mechanism_table(lower(scale), 0, (32, 4))
    assert found["local_size"] == [32, 4, 1]
    assert found["mechanism"] == {str(factor): dict(row.by_name()) for factor, row in table.rows.items()}
    assert json.loads(run(*words).out)["local_size"] == [256, 1, 1]
    assert list(found["features"]["1"]) == [feature.name for feature in FEATURES]


def test_the_table_has_the_mechanism_features_behind_the_others(scale: Path, run: Run) -> None:
    lines = run("apply", scale, "--features", "mechanism", "--local-size", "64").out.splitlines()
    start = lines.index("for a local size of 64×1×1")
    names = [feature.name.replace("_", " ") for feature in MECHANISM_FEATURES]
    assert [line.split("  ")[0] for line in lines[start + 3 :]] == names
    assert lines[: start - 1] == run("apply", scale, "--features", "paper").out.splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("paper", "--local-size", "64"), "--local-size goes with --features mechanism and work"),
        (("papers",), "--features takes paper, mechanism, work and registers:CHIP, not 'papers'"),
        (("paper", "--factor", "2", "--factor", "4"), "--features takes --factor once"),
        (("paper", "--report"), "give one of --report and --features: each writes something else"),
        (
            ("mechanism", "--local-size", "64x0"),
            "--local-size takes one to three sizes, such as 64 or 16x16, not '64x0'",
        ),
        (
            ("mechanism", "--local-size", "1x1x1x1"),
            "--local-size takes one to three sizes, such as 64 or 16x16, not '1x1x1x1'",
        ),
    ],
)
def test_local_sizes_that_are_refused(scale: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    outcome = run("apply", scale, "--features", *words)
    assert outcome.code != 0
    assert message in outcome.error


def test_a_local_size_that_the_kernel_forbids(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "fixed.cl"
    attribute = "__attribute__((reqd_work_group_size(32, 1, 1)))"
    path.write_text(f"kernel {attribute} void fixed(global int *a) {{ a[get_global_id(0)] = 1; }}\n")
    outcome = run("apply", path, "--features", "mechanism", "--local-size", "64")
    assert (outcome.code, outcome.error) == (2, "the kernel fixed requires the local size 32×1×1, not 64")
    found = json.loads(run("apply", path, "--features", "mechanism", "-f", "json").out)
    assert (found["local_size"], found["local_size_is_assumed"]) == ([32, 1, 1], False)


def test_a_local_size_that_nobody_gave_is_called_assumed(scale: Path, run: Run) -> None:
    assert (
        "for a local size of 256×1×1 (assumed)" in run("apply", scale, "--features", "mechanism").out.splitlines()
    )
