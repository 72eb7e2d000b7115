"""`coarsen train`: what it prints, what it stores and what it refuses."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen.cli.train.options import TrainOptions
from coarsen.models.cascade.model import SHIPPED
from coarsen.models.device_descriptors import PUBLISHED
from coarsen.opencl_bench.workloads.lookup import SUITE

Run = Callable[..., Any]


def test_a_shipped_model_is_rebuilt_bit_for_bit(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "models"
    outcome = run("train", "--device", "Tahiti", "--output", folder)
    assert outcome.code == 0
    for name in ("tahiti.safetensors", "tahiti.json"):
        assert (folder / name).read_bytes() == (SHIPPED / name).read_bytes()
    lines = outcome.out.splitlines()
    assert lines[0].startswith("tahiti (AMD Radeon HD 7970): the best factor of each kernel")
    assert lines[2].split() == ["kernel", "best", "cascade", "cautious", "unique", "never", "published"]
    kernels = [line.split()[0] for line in lines[3:20]]
    assert kernels == sorted(SUITE, key=str.casefold)
    assert all(len(line.split()) == 7 for line in lines[3:20])
    assert lines[20].startswith("~: not all trainings, each from other initial weights")
    row = next(line for line in lines if line.startswith("never  "))
    assert " 5/17 " in row, "as table 5 has it"
    assert lines[-3].startswith("Verdict: for kernels left out of its training it finds the best factor of 3 of ")
    assert lines[-3].endswith("; so it is no better than leaving kernels as they are")
    assert lines[-2] == f"stored in {folder / 'tahiti.safetensors'} and {folder / 'tahiti.json'}"
    assert lines[-1] == f"`coarsen predict KERNEL --device Tahiti --models {folder}` takes it"
    assert "note: training on 17 kernels, and again without each of them" in outcome.err


def test_the_stored_model_predicts(scale: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "models"
    trained = run("train", "-d", "fermi", "-o", folder, "--seed", 7, "-f", "json", "-q")
    assert (trained.code, trained.err) == (0, "")
    found = json.loads(trained.out)
    assert found["device"] == "fermi"
    assert set(found["scores"]) == {"cascade", "cautious", "unique", "never", "published"}
    assert len(found["best"]) == len(found["predicted"]["cascade"]) == 17
    assert all(sum(seeds.values()) == found["seeds"] for seeds in found["predicted"]["cascade"].values())
    assert [Path(path).exists() for path in found["stored"]] == [True, True]
    assert run("predict", scale, "-d", "fermi", "--model", "cascade", "--models", folder).code == 0


def test_the_model_goes_to_the_users_data_folder(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[TrainOptions] = []

    def remember(_: object, wanted: TrainOptions, _progress: object) -> None:
        asked.append(wanted)
        raise KeyboardInterrupt

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("coarsen.cli.train.cascade._train_and_save", remember)
    assert run("train", "-d", "kepler").code == 130
    assert [wanted.folder for wanted in asked] == [tmp_path / "coarsen" / "models"]


TABLE = """kernel,factor,mygpu_ns
mt,1,100\nmt,2,60\nmt,4,90
sgemm,1,100\nsgemm,2,50\nsgemm,4,40
spmv,1,100\nspmv,2,140
reduce,1,100\nreduce,2,90\nreduce,4,120
"""


def test_a_cascade_of_any_device_is_trained_from_runtimes_and_then_predicts(
    scale: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    table = tmp_path / "runtimes.csv"
    table.write_text(TABLE)
    mt = SUITE["mt"].kernel_file
    asked = ("predict", mt, "-d", "mygpu", "--model", "cascade")
    assert run(*asked).code == 4
    trained = run("train", "-d", "MyGPU", "--data", table)
    assert trained.code == 0
    lines = trained.out.splitlines()
    assert lines[0].startswith("mygpu: the best factor of each kernel")
    assert lines[2].split() == ["kernel", "best", "cascade", "cautious", "unique", "never"]
    assert any("geometric mean" in line for line in lines if line.startswith("method"))
    assert lines[-1].startswith("`coarsen predict KERNEL --device MyGPU` takes it from now on")
    folder = tmp_path / "coarsen" / "models"
    found = run(*asked, "-f", "json")
    assert json.loads(found.out)["training_kernel"] == "mt"
    assert found.err == (
        f"coarsen: note: by the model that you trained, in {folder}; --shipped takes that of the package\n"
    )
    assert "mt is one of the model's training kernels, so this is not" in run(*asked).out
    assert run(*asked[:4]).out == run(*asked).out, "nothing else is known of the device, so the cascade answers"
    assert json.loads(run("predict", scale, *asked[2:], "-f", "json").out)["training_kernel"] is None
    assert coarsen.predict(mt, device="mygpu", model="cascade").training_kernel == "mt"


def test_what_was_trained_goes_before_what_is_shipped(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    table = tmp_path / "best.csv"
    table.write_text("kernel,device,best_factor\nmt,tahiti,32\nsgemm,tahiti,32\nspmv,tahiti,32\n")
    asked = ("predict", SUITE["spmv"].kernel_file, "-d", "tahiti", "-f", "json")
    before = run(*asked)
    assert before.err == ""
    assert run("train", "-d", "tahiti", "--data", table).code == 0
    after = run(*asked)
    assert (json.loads(before.out)["factor"], json.loads(after.out)["factor"]) == (1, 32)
    assert run(*asked, "--shipped").out == before.out
    card = json.loads((tmp_path / "coarsen" / "models" / "tahiti.json").read_text())
    assert (card["networks"], card["data"]["sources"]) == ("one", ["best.csv"])


def test_an_outdated_model_of_the_user_is_refused_in_one_line(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "coarsen" / "models"
    folder.mkdir(parents=True)
    for suffix in ("json", "safetensors"):
        shutil.copy(SHIPPED / f"tahiti.{suffix}", folder)
    card = folder / "tahiti.json"
    card.write_text(card.read_text().replace('"feature_set_version": 2', '"feature_set_version": 9'))
    outcome = run("predict", SUITE["mt"].kernel_file, "-d", "tahiti", "--model", "cascade", "-q")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == (
        "the model 'tahiti' was made for version 9 of the features, this is version 2; train it again"
    )


def test_without_pytorch(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else sys.__spec__)
    outcome = run("train", "-d", "tahiti", "-o", tmp_path / "models")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == "training needs more packages: pip install 'coarsen[train]'"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("-d", "gameboy"),
            4,
            "nothing is known of 'gameboy': give its runtimes or best factors with --data FILE; without, there "
            "are: cypress, fermi, h200, intel, kepler, pocl, tahiti",
        ),
        ((), 2, "give the cascade's --device, or --model launch"),
        (("-d", "tahiti", "--data", "missing.csv", "-o", "."), 2, "missing.csv: can't be read"),
        (("-m", "default"), 2, "invalid value for '-m' / '--model'"),
        (("-d", "intel", "--data", PUBLISHED, "-o", "."), 2, "the data has nothing of a device 'intel'"),
        (("-d", "tahiti", "--dim", 1, "-o", "."), 2, "no kernel was coarsened along dimension 1 on tahiti"),
        (("-d", "tahiti", "--model", "launch"), 2, "--device is not for the launch model"),
        (("--dim", "1", "--model", "launch"), 2, "--dim is not for the launch model"),
        (
            ("--model", "launch", "-o", "."),
            2,
            "the launch model learns from measured launches",
        ),
        (("--model", "launch", "--data", "missing.parquet", "-o", ".", "-q"), 2, "missing.parquet: can't be read"),
        (("-m", "launch", "--kernels", "nowhere", "-o", "."), 2, "--kernels nowhere: there is no such folder"),
        (("-d", "tahiti", "--seed", "-1"), 2, "invalid value for '--seed'"),
        (
            ("-d", "tahiti", "-o", "/dev/null/models"),
            2,
            "/dev/null/models: no folder can be made there: /dev/null is a file",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], code: int, message: str, run: Run) -> None:
    outcome = run("train", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error.startswith(message)
