"""`coarsen train`: what it prints, what it stores and what it refuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.models.cascade.storage import SHIPPED
from coarsen.opencl_bench.workloads.lookup import SUITE

Run = Callable[..., Any]


def test_a_shipped_model_is_rebuilt_bit_for_bit(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "models"
    outcome = run("train", "--device", "Tahiti", "--output", folder)
    assert outcome.code == 0
    for name in ("tahiti.safetensors", "tahiti.json"):
        assert (folder / name).read_bytes() == (SHIPPED / name).read_bytes()
    lines = outcome.out.splitlines()
    assert lines[0].startswith("tahiti (AMD Radeon HD 7970): best factor of each kernel")
    assert lines[2].split() == ["kernel", "best", "cascade", "unique", "never", "published"]
    kernels = [line.split()[0] for line in lines[3:20]]
    assert kernels == sorted(SUITE, key=str.casefold)
    assert all(len(line.replace(" (", "(").split()) == 6 for line in lines[3:20])
    assert lines[-1] == f"stored in {folder / 'tahiti.safetensors'} and {folder / 'tahiti.json'}"
    assert "note: training on 17 kernels" in outcome.err


def test_the_stored_model_predicts(scale: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "models"
    trained = run("train", "-d", "fermi", "-o", folder, "--seed", 7, "-f", "json", "-q")
    assert (trained.code, trained.err) == (0, "")
    found = json.loads(trained.out)
    assert found["device"] == "fermi"
    assert set(found["scores"]) == {"cascade", "unique", "never", "published"}
    assert len(found["best"]) == len(found["predicted"]["cascade"]) == 17
    assert all(sum(seeds.values()) == found["seeds"] for seeds in found["predicted"]["cascade"].values())
    assert [Path(path).exists() for path in found["stored"]] == [True, True]
    assert run("predict", scale, "-d", "fermi", "--model", "cascade", "--models", folder).code == 0


def test_the_model_goes_to_the_users_data_folder(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def remember(*words: object) -> None:
        asked.append(words[-1])
        raise KeyboardInterrupt

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("coarsen.cli.train._train_and_save", remember)
    assert run("train", "-d", "kepler").code == 130
    assert asked == [tmp_path / "coarsen" / "models"]


def test_without_pytorch(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else sys.__spec__)
    outcome = run("train", "-d", "tahiti", "-o", tmp_path / "models")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == "training needs PyTorch: pip install 'coarsen[train]'"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("-d", "gameboy"),
            4,
            "no best factors are known for 'gameboy'; devices: cypress, fermi, kepler, tahiti",
        ),
        ((), 2, "give the cascade's --device, or --model default"),
        (("-d", "tahiti", "--data", "results.parquet"), 2, "--data is for --model default"),
        (("-d", "tahiti", "--best-factors", "none"), 2, "--best-factors is for --model default"),
        (("-d", "tahiti", "--kernels", "."), 2, "--kernels is for --model default"),
        (("-d", "tahiti", "--evaluation", "evaluation.json"), 2, "--evaluation is for --model default"),
        (("-d", "tahiti", "--model", "default"), 2, "--device is for the cascade"),
        (
            ("--model", "default", "--data", "missing.csv", "-o", ".", "-q"),
            2,
            "missing.csv: can't be read",
        ),
        (
            ("-m", "default", "--kernels", "nowhere", "-o", "."),
            2,
            "--kernels nowhere: there is no such folder",
        ),
        (("-d", "tahiti", "--seed", "-1"), 2, "invalid value for '--seed'"),
        (
            ("-d", "tahiti", "-o", "/dev/null/models"),
            2,
            "/dev/null/models: no folder can be made there: Not a directory",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], code: int, message: str, run: Run) -> None:
    outcome = run("train", *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error.startswith(message)
