"""`coarsen bench pack`: the folder, what is said of it, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SMALL = ("--preset", "test", "--factors", "1,2", "--strides", "1", "--local-sizes", "64,16x16")


def test_a_pack_of_two_forms(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "pack"
    done = run("bench", "pack", "reduce", *SMALL, "--form", "opencl_c", "--form", "ptx", "-o", folder)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        f"{folder}: 2 sweeps, 4 configurations (0 of them not to be run), 4 kernels, 0.0 MB",
        "Run it there: python -m coarsen.opencl_bench.run_pack pack",
    ]
    assert done.err.splitlines()[0] == "coarsen: note: compiling reduce, opencl_c"
    assert sorted(path.suffix for path in (folder / "code").iterdir()) == [".cl", ".cl", ".ptx", ".ptx"]
    assert "run_pack" in (folder / "README").read_text()
    plan = json.loads((folder / "plan.json").read_text())
    assert [sweep["form"] for sweep in plan["sweeps"]] == ["opencl_c", "ptx"]


def test_limits_of_the_device(tmp_path: Path, run: Run) -> None:
    limits = ("--max-work-group-size", 32, "--local-memory", 1)
    done = run("bench", "pack", "reduce", *SMALL, "--form", "ptx", *limits, "-o", tmp_path / "pack", "-q")
    assert (done.code, done.err) == (0, "")
    plan = json.loads((tmp_path / "pack" / "plan.json").read_text())
    failures = [entry.get("failure", "") for entry in plan["sweeps"][0]["candidates"]]
    assert failures[0] == "a work-group would have 64 work-items, the device allows 32"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sgem",), "no benchmark 'sgem'"),
        (("reduce", "--preset", "huge"), "reduce: no preset 'huge'"),
        (("reduce", "--factors", "two"), "--factors takes whole numbers"),
        (("nowhere.toml",), "nowhere.toml"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    done = run("bench", "pack", *words, "-o", tmp_path / "pack")
    assert done.code == 2
    assert message in done.error
    assert not (tmp_path / "pack").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, run: Run) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run("bench", "pack", "reduce", *SMALL, "-o", tmp_path).error == f"{tmp_path} isn't empty"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
