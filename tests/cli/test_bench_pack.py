"""`coarsen bench --pack`: the folder, what is said of it, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SMALL = ("--preset", "test", "--space", "factor=1,2", "--space", "stride=1", "--space", "local-size=64,16x16")


def test_a_pack_of_two_forms(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "pack"
    done = run("bench", "reduce", *SMALL, "--form", "opencl_c", "--form", "spirv", "--pack", folder)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        f"{folder}: 2 sweeps, 4 configurations (0 of them not to be run), 4 kernels, 0.0 MB",
        "Run it there: python -m coarsen.opencl_bench.run_pack pack",
    ]
    assert done.err.splitlines()[0] == "coarsen: note: compiling reduce, opencl_c"
    codes = [json.loads(path.read_text()) for path in (folder / "code").iterdir()]
    assert sorted(code["form"] for code in codes) == ["opencl_c", "opencl_c", "spirv", "spirv"]
    assert "run_pack" in (folder / "README").read_text()
    plan = json.loads((folder / "plan.json").read_text())
    assert [sweep["form"] for sweep in plan["sweeps"]] == ["opencl_c", "spirv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sgem",), "no benchmark 'sgem'"),
        (("reduce", "--preset", "huge"), "reduce: no preset 'huge'"),
        (("reduce", "--space", "factor=two"), "--space factor=two: a whole number"),
        (("nowhere.toml",), "nowhere.toml"),
        (("reduce", "-d", "pocl"), "a pack is for devices of a kind: --device cpu or gpu, not pocl"),
        (
            ("reduce", "-d", "cpu", "-d", "gpu"),
            "a pack is for devices of a kind: --device cpu or gpu, not cpu ",
        ),
        (
            ("reduce", "--search", "random", "-o", "x.csv"),
            "--pack measures nothing: leave out --search and --output",
        ),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    done = run("bench", *words, "--pack", tmp_path / "pack")
    assert done.code == 2
    assert message in done.error
    assert not (tmp_path / "pack").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, run: Run) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run("bench", "reduce", *SMALL, "--pack", tmp_path).error == f"{tmp_path} isn't empty"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
