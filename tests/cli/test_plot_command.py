"""`coarsen results best` and `plot`: the table, the figure, and what they refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import read_results, write_results, write_table
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.reporting.figures.sweeps import two_devices

Run = Callable[..., Any]
INTEL, POCL = "AMD EPYC (Intel)", "AMD EPYC (PoCL)"
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A CSV file with the sweeps of two kernels on two devices."""
    path = tmp_path / "results.parquet"
    write_table(two_devices(), path)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with the same."""
    path = tmp_path / "store.sqlite"
    with open_store(str(path)) as opened:
        opened.add_all(two_devices())
    return path


def test_the_table(store: Path, run: Run) -> None:
    outcome = run("results", "best", "--store", store)
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.split("  ") for line in outcome.out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[0] == [
        *("kernel", "device", "baseline", "best configuration", "speed-up", "verified against"),
        *("measured", "failed"),
    ]
    assert cells[2] == [
        *(
            "nbody",
            POCL,
            "64",
            "uncoarsened, local size 64",
            "1.00 (leave it as it is)",
            "uncoarsened kernel",
        ),
        *("2 of 3", "1"),
    ]
    assert cells[4] == [
        *("sgemm", POCL, "64", "factor 4 along dimension 0, local size 64", "2.00 (2.00 to 2.00)", "reference"),
        *("3 of 3", "0"),
    ]
    assert outcome.out.splitlines()[-2:] == [
        f"{device}: geometric mean 1.41; 2 of 2 kernels measured; coarsening helps 1" for device in (INTEL, POCL)
    ]


def test_the_table_as_json(results: Path, run: Run) -> None:
    outcome = run("results", "best", "--from", results, "-d", "pocl", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert [(row["benchmark"], row["factor"], row["speedup"], row["tie"]) for row in found["best"]] == [
        *(("nbody", 1, 1.0, True), ("sgemm", 4, 2.0, False)),
    ]
    assert found["best"][1]["low"] == found["best"][1]["high"] == 2.0
    assert found["geometric_means"] == [
        {"device": POCL, "speedup": pytest.approx(2**0.5), "measured": 2, "helped": 1, "laid_out": 0, "kernels": 2}
    ]


def test_a_kernel_without_a_result_is_null(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "results.parquet"
    write_table([row for row in two_devices() if not row.nanoseconds], path)
    outcome = run("results", "best", "--from", path, "-f", "json")
    best = json.loads(outcome.out)["best"]
    assert [(row["benchmark"], row["speedup"], row["configuration"], row["failed"]) for row in best] == [
        ("nbody", None, "", 1)
    ]
    assert run("results", "best", "--from", path).out.splitlines()[-1] == (
        f"{POCL}: 0 of 1 kernel measured; coarsening helps 0"
    )


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_figure_is_written(kind: str, results: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / f"figure.{kind}"
    outcome = run("results", "plot", "--from", results, "-k", "SGEMM", "-o", path)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"coarsen: note: written: {path}\n"
    assert path.read_bytes().startswith(BEGINNINGS[kind])


def test_options_reach_the_figures(results: Path, run: Run) -> None:
    words = ("--from", results, "-d", "pocl", "-f", "json")
    curves = json.loads(run("results", "plot", *words, "--by", "stride", "--choice", "baseline").out)["curves"]
    assert {row["series"] for row in curves} == {"stride 1"}


def test_lines_and_a_store_say_the_same(store: Path, results: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "results.jsonl"
    write_results(two_devices(), path)
    outputs = {
        run("results", "best", *words).out for words in (("--from", path), ("--from", results), ("--store", store))
    }
    assert len(outputs) == 1


def test_the_store_of_the_environment(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COARSEN_STORE", str(store))
    assert run("results", "best").out == run("results", "best", "--store", store).out


def test_a_look_at_a_small_preset_and_then_the_sweep(tmp_path: Path, run: Run) -> None:
    path, baseline = tmp_path / "results.parquet", Variant((32, 8), (), (("TILE", "16"),))
    times = {"test": "2026-11-20T12:00:00+00:00", "cpu": "2026-11-20T13:00:00+00:00"}
    rows = [
        some_measurement(preset=preset, started_at=time, **changes)
        for preset, time in times.items()
        for changes in ({}, {"candidate": baseline})
    ]
    write_table(rows, path)
    note = (
        "coarsen: note: sgemm: shown at preset cpu, which was measured last; "
        "also measured at test, which --preset (preset= in Python) chooses\n"
    )
    outcome = run("results", "best", "--from", path, "-f", "json")
    assert (outcome.code, outcome.err) == (0, note)
    assert [row["preset"] for row in json.loads(outcome.out)["best"]] == ["cpu"]
    drawn = run("results", "plot", "--from", path, "-o", tmp_path / "curves.svg")
    assert (drawn.code, drawn.err.startswith(note)) == (0, True)
    chosen = run("results", "best", "--from", path, "--preset", "test", "-f", "json")
    assert (chosen.err, json.loads(chosen.out)["best"][0]["preset"]) == ("", "test")


def test_to_look_at_a_store_makes_none(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "store.sqlite"
    outcome = run("results", "best", "--store", path)
    assert outcome.code == 2
    assert outcome.error == f"there is no store at {path}; 'coarsen tune' or 'coarsen bench' makes one"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "store.sqlite"
    open_store(str(path)).close()
    outcome = run("results", "plot", "--store", path, "-o", tmp_path / "x.svg")
    assert (outcome.code, outcome.error) == (2, f"{path} has no measurements; `coarsen bench` makes some")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("best", "-o", "x.svg"), "--output is not for 'coarsen results best'"),
        (("plot",), "no output given: use -o FILE.svg, -o FILE.html or -f json"),
        (("plot", "-o", "x.gif"), "x.gif: a figure's file ends in .png, .svg or .pdf"),
        (("plot", "-o", "/nowhere/x.svg"), "/nowhere/x.svg: can't be written: No such file or directory"),
        (("pie", "-o", "x.svg"), "results has no action 'pie'; it has ls, best, show, plot"),
        (("best", "--store", "x.sqlite"), "--store and --from are two sources; give one"),
        (("best", "-d", "gameboy"), "no measurement in "),
        (("plot", "--by", "stride", "-o", "x.svg"), "curves by stride are of one device; choose one of "),
    ],
)
def test_refusals(words: tuple[str, ...], message: str, results: Path, run: Run) -> None:
    outcome = run("results", *words, "--from", results)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not Path("x.svg").exists()


def test_what_there_is_is_listed(results: Path, run: Run) -> None:
    outcome = run("results", "best", "--from", results, "--preset", "paper")
    assert outcome.error == (
        f"no measurement in {results} is of what was asked for; there are devices AMD EPYC (Intel(R) OpenCL), "
        "pthread-skylake-avx512-AMD EPYC (Portable Computing Language); benchmarks nbody, sgemm; presets test"
    )


def test_several_files_are_one_set_of_results(tmp_path: Path, run: Run, results: Path) -> None:
    halves = [tmp_path / "one.jsonl", tmp_path / "two.parquet"]
    rows = read_results(results)
    write_results(rows[::2], halves[0])
    write_results(rows[1:], halves[1])  # some rows are in both
    words = ("results", "plot", "-f", "json")
    assert run(*words, "--from", halves[0], "--from", halves[1]).out == run(*words, "--from", results).out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.jsonl", "can't be read: No such file or directory"),
        ("results.txt", "the name of a results file ends in .parquet or .jsonl"),
    ],
)
def test_files_that_are_no_results(name: str, message: str, tmp_path: Path, run: Run) -> None:
    outcome = run("results", "best", "--from", tmp_path / name)
    assert (outcome.code, outcome.error) == (2, f"{tmp_path / name}: {message}")


@pytest.mark.parametrize("name", ["broken.parquet", "broken.jsonl"])
def test_broken_files(name: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / name
    path.write_bytes(b'{"results": 1}\nthis is none\n')
    outcome = run("results", "best", "--from", path)
    assert outcome.code == 2
    assert outcome.error.startswith(str(path))


def test_without_matplotlib(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "matplotlib" else sys.__spec__)
    outcome = run("results", "best")
    assert (outcome.code, outcome.error) == (2, "plotting needs more packages: pip install 'coarsen[bench]'")
