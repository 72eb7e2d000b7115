"""The default model fitted from a table of runtimes, stored, and what is printed of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.cli.output import Format
from coarsen.cli.train_default import DefaultTraining, train_default
from coarsen.errors import InvalidInputError
from coarsen.models.default.storage import load_default
from tests.cli.conftest import Run

KERNELS = ("mt", "sgemm", "mvCoal", "fastWalsh")


@pytest.fixture
def wanted(tmp_path: Path) -> DefaultTraining:
    """Made-up runtimes of four kernels: sgemm gains by each doubling on intel, nothing else does."""
    lines = ["kernel,factor,intel_ns,pocl_ns"]
    for kernel in KERNELS:
        for doublings in range(6):
            gain = 0.8**doublings if kernel == "sgemm" else 1.1**doublings
            lines.append(f"{kernel},{2**doublings},{1e6 * gain:.0f},{1e6 * 1.2**doublings:.0f}")
    table = tmp_path / "runtimes.csv"
    table.write_text("\n".join(lines) + "\n")
    return DefaultTraining((str(table),), tmp_path / "models", date="2030-01-02", best_factors="none")


def test_it_stores_a_model_and_says_how_good_it_is(
    wanted: DefaultTraining, capsys: pytest.CaptureFixture[str]
) -> None:
    train_default(wanted, Format.TABLE)
    printed = capsys.readouterr().out
    assert "intel" in printed
    assert "pocl" in printed
    assert "default.safetensors" in printed
    card = load_default(wanted.folder).card
    assert card["date"] == "2030-01-02"
    learned = card["data"]
    assert isinstance(learned, dict)
    assert set(learned.pop("identities")) == {"fastWalsh", "mt", "mvCoal", "sgemm"}
    assert learned == {
        "sources": ["runtimes.csv"],
        "curves": {"intel": 4, "pocl": 4},
        "best_factors": {},
        "kernels": 4,
        "families": 4,
        "best_factor_identities": {},
    }


def test_devices_that_were_not_measured_are_adjusted_to_table_5(
    wanted: DefaultTraining, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = tmp_path / "evaluation.json"
    shown = {"seeds": 3, "devices": {"pocl": {"measured": True}}, "calibration": {"default": {"brier": 0.2}}}
    cases = {**shown, "devices": {"pocl": {"measured": True, "kernels": [1]}}}
    evaluation.write_text(json.dumps({**cases, "calibration": {"default": {"brier": 0.2, "bins": [2]}}}))
    train_default(replace(wanted, best_factors=None, evaluation=evaluation), Format.JSON)
    printed = json.loads(capsys.readouterr().out)
    assert printed["evaluation"] == shown
    assert len(printed["out_of_bag"]["scores"]) == 2
    model = load_default(wanted.folder)
    assert set(model.adjustments) == {"cypress", "fermi", "kepler", "tahiti"}
    assert model.card["evaluation"] == {"out_of_bag": printed["out_of_bag"], "evaluation": shown}


def test_the_command_stores_the_same_model(wanted: DefaultTraining, tmp_path: Path, run: Run) -> None:
    train_default(wanted, Format.JSON)
    folder = tmp_path / "again"
    words = ("--model", "default", "--data", *wanted.data, "--best-factors", "none", "-o", folder, "-f", "json")
    outcome = run("train", *words)
    assert outcome.code == 0
    numbers = "default.safetensors"
    assert (folder / numbers).read_bytes() == (wanted.folder / numbers).read_bytes()
    other = run("train", *words, "--seed", 1)
    assert other.code == 0
    assert (folder / numbers).read_bytes() != (wanted.folder / numbers).read_bytes()


def test_the_stored_model_predicts(wanted: DefaultTraining, scale: Path, run: Run) -> None:
    stored = run("train", "--model", "default", "--data", *wanted.data, "-o", wanted.folder)
    assert stored.code == 0
    assert f"stored in {wanted.folder / 'default.safetensors'}" in stored.out
    assert run("predict", scale, "-d", "tahiti", "--models", wanted.folder).code == 0


@pytest.mark.parametrize(
    ("package", "source", "message"),
    [
        ("sklearn", "runtimes.csv", "training needs scikit-learn: pip install 'coarsen[train]'"),
        ("pyarrow", "rows.parquet", "reading measurements needs more packages: pip install 'coarsen[bench]'"),
    ],
)
def test_without_a_package(
    package: str, source: str, message: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else sys.__spec__)
    outcome = run("train", "--model", "default", "--data", source, "-o", tmp_path / "models")
    assert (outcome.code, outcome.out, outcome.error) == (2, "", message)
    assert list(tmp_path.iterdir()) == []


def test_an_evaluation_that_is_not_json_is_refused(wanted: DefaultTraining, tmp_path: Path) -> None:
    damaged = tmp_path / "evaluation.json"
    damaged.write_text("{")
    with pytest.raises(InvalidInputError, match="is not JSON"):
        train_default(replace(wanted, evaluation=damaged), Format.TABLE)
    with pytest.raises(InvalidInputError, match="No such file"):
        train_default(replace(wanted, evaluation=tmp_path / "missing.json"), Format.TABLE)


def test_what_is_no_evaluation_is_refused(wanted: DefaultTraining, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[1, 2]")
    with pytest.raises(InvalidInputError, match="is not what `coarsen evaluate --format json` printed"):
        train_default(replace(wanted, evaluation=other), Format.TABLE)


def test_runtimes_are_no_best_factors(wanted: DefaultTraining) -> None:
    with pytest.raises(InvalidInputError, match="--best-factors takes a table of kernel,device,best_factor"):
        train_default(replace(wanted, best_factors=wanted.data[0]), Format.TABLE)


def test_training_that_fails_leaves_nothing_behind(tmp_path: Path, run: Run) -> None:
    table = tmp_path / "runtimes.csv"
    table.write_text("kernel,factor,pocl_ns\nsgemm,1,100\nsgemm,2,50\n")
    words = (
        "--model",
        "default",
        "--data",
        table,
        "--best-factors",
        "none",
        "-o",
        tmp_path / "new" / "models",
        "-q",
    )
    outcome = run("train", *words)
    assert outcome.code == 2
    assert outcome.error == "the default model learns from measured curves of at least two unrelated kernels"
    assert list(tmp_path.iterdir()) == [table]
