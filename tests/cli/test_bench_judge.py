"""Suites of `coarsen bench`, and what refuses to learn from what it measures of the second judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.cli.bench.inputs import benchmarks_of
from coarsen.opencl_bench.workloads.lookup import SUITE, judge, records
from tests.cli.conftest import Run

SMALL = ("--preset", "test", "--quick", "--space", "factor=1,2", "--space", "stride=1", "--space", "dim=0")
TABLE = "kernel,factor,intel_ns\nmt,1,100\nmt,2,90\njudge-heat_plate,1,100\njudge-heat_plate,2,80\n"


def test_suites() -> None:
    assert [name for _, name in benchmarks_of(None)] == list(SUITE)
    assert [name for _, name in benchmarks_of(["seventeen"])] == list(SUITE)
    assert [name for _, name in benchmarks_of(["judge"])] == list(judge())
    assert [name for _, name in benchmarks_of(["records"])] == list(records())
    assert [name for _, name in benchmarks_of(["mt", "judge"])] == ["mt", *judge()]


def test_a_kernel_of_the_judge_is_measured_like_any(tmp_path: Path, run: Run) -> None:
    words = ("judge-gemv_transposed", "-d", "intel", *SMALL, "--no-confirmation", "--store", tmp_path / "store")
    done = run("bench", *words, "-f", "json", "-q")
    assert (done.code, done.err) == (0, "")
    (sweep,) = json.loads(done.out)["sweeps"]
    # Four local sizes: each in the selection of the baseline, then against it, uncoarsened and by two.
    assert (sweep["benchmark"], sweep["rows"]) == ("judge-gemv_transposed", 12)


def test_a_pack_of_a_kernel_of_the_judge(tmp_path: Path, run: Run) -> None:
    done = run("bench", "judge-gemv_transposed", *SMALL, "--pack", tmp_path / "pack", "-q")
    assert (done.code, done.err) == (0, "")
    plan = json.loads((tmp_path / "pack" / "plan.json").read_text())
    assert [sweep["benchmark"] for sweep in plan["sweeps"]] == ["judge-gemv_transposed"]


@pytest.mark.parametrize("words", [("train", "--device", "intel"), ("evaluate", "--data", "pocl", "--unseen")])
def test_nothing_learns_from_the_judge(words: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    table = tmp_path / "runtimes.csv"
    table.write_text(TABLE)
    option = "--data" if words[0] == "train" else "--training"
    target = ("-o", tmp_path / "models") if words[0] == "train" else ("--model", "unique")
    done = run(*words, option, table, *target, "-q")
    assert (done.code, done.out) == (2, "")
    assert done.error == (
        "judge-heat_plate is a kernel of the second judge, and nothing may learn from those; leave it out"
    )
