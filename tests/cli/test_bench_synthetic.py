"""`coarsen bench` and `coarsen bench pack` with synthetic kernels; `--no-confirmation`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.opencl_bench.results.exchange.tables import read_table
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark
from tests.cli.conftest import Run

SMALL = ("--preset", "test", "--quick", "--factors", "1,2", "--strides", "1", "--dims", "0")
ON_INTEL = ("bench", "-d", "intel", *SMALL, "-f", "json", "-q")
DRAWN = ("--synthetic", 2, "--synthetic-seed", 5)


def test_synthetic_kernels_are_measured_with_and_without_confirmation(tmp_path: Path, run: Run) -> None:
    words = (*ON_INTEL, *DRAWN, "--store", tmp_path / "store", "-o", tmp_path / "rows.parquet")
    done = run(*words, "--no-confirmation")
    assert (done.code, done.err) == (0, "")
    sweeps = json.loads(done.out)["sweeps"]
    # A selection and two comparisons each.
    assert [(each["benchmark"], each["rows"]) for each in sweeps] == [("synthetic-5-0", 3), ("synthetic-5-1", 3)]
    rows = read_table(tmp_path / "rows.parquet")
    assert {row.role.value for row in rows} == {"selection", "comparison"}
    assert {row.subject.kernel for row in rows} == {synthetic_benchmark(5, index).kernel for index in (0, 1)}
    assert {row.oracle.value for row in rows if row.candidate.coarsenings} == {"uncoarsened"}

    confirmed = json.loads(run(*words).out)["sweeps"]
    assert [(each["rows"], each["measured"]) for each in confirmed] == [(9, 6), (9, 6)]
    assert {row.role.value for row in read_table(tmp_path / "rows.parquet")} >= {"confirmation"}


def test_the_seed_is_nought_and_kernels_can_be_named_beside(tmp_path: Path, run: Run) -> None:
    named = ("mt", "synthetic-3-14", "synthetic-0-0")
    options = ("--no-confirmation", "--synthetic", 2, "--store", tmp_path / "store")
    done = run(*ON_INTEL, *named, *options)
    assert (done.code, done.err) == (0, "")
    names = [each["benchmark"] for each in json.loads(done.out)["sweeps"]]
    assert names == [*named, "synthetic-0-1"]


def test_a_pack_of_synthetic_kernels(tmp_path: Path, run: Run) -> None:
    done = run("bench", "pack", *DRAWN, *SMALL, "-o", tmp_path / "pack", "-q")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{tmp_path / 'pack'}: 2 sweeps, 4 configurations (0 of them not to be run)")
    plan = json.loads((tmp_path / "pack" / "plan.json").read_text())
    assert [sweep["benchmark"] for sweep in plan["sweeps"]] == ["synthetic-5-0", "synthetic-5-1"]
    codes = [path.read_text() for path in (tmp_path / "pack" / "code").iterdir()]
    assert {synthetic_benchmark(5, index).source for index in (0, 1)} <= set(codes)


@pytest.mark.parametrize("command", [("bench", "-d", "intel"), ("bench", "pack")])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--synthetic", "0"), "invalid value for '--synthetic'"),
        (("--synthetic", "two"), "invalid value for '--synthetic'"),
        (("--synthetic", "2", "--synthetic-seed", "-1"), "invalid value for '--synthetic-seed'"),
        (("--synthetic-seed", "1"), "--synthetic-seed needs --synthetic or --free-launch: which kernels to draw"),
        (("synthetic-1",), "no benchmark 'synthetic-1'; a synthetic kernel is called synthetic-SEED-NUMBER"),
        (("--synthetic", "1", "--preset", "paper"), "synthetic-0-0: no preset 'paper'; there are test, cpu, gpu"),
        (("--synthetic", "1", "--local-sizes", "7x7"), "synthetic-0-0: --local-sizes has none of its dimensions"),
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
