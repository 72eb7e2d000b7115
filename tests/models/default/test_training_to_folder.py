"""A model trained from Python is the one that `train` fits, and `coarsen.predict` finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

import coarsen
from coarsen.errors import InvalidInputError
from coarsen.models import train_default
from coarsen.models.default.training import train
from coarsen.models.examples import Example

KERNEL = "kernel void add(global float *a) { a[get_global_id(0)] += 1.0f; }"


def test_it_is_stored_and_predicts(examples: tuple[Example, ...], tmp_path: Path) -> None:
    learned_from = examples[:60]
    model = train_default(learned_from, tmp_path / "models", seed=3, threads=1, sources=["made up"])
    fitted = train(learned_from, seed=3).model
    table, mechanism = examples[-1].table, examples[-1].mechanism
    device = coarsen.target_of("intel").descriptor
    predictions = [each.predict(table, mechanism, device).curve for each in (model, fitted)]
    assert [point.log_speedup for point in predictions[0]] == pytest.approx(
        [point.log_speedup for point in predictions[1]], abs=2e-3
    )
    data = model.card["data"]
    assert isinstance(data, dict)
    assert data["sources"] == ["made up"]
    assert "out_of_bag" in str(model.card["evaluation"])
    found = coarsen.predict(KERNEL, device="intel", model="default", models=tmp_path / "models")
    assert found.device_note == ""


def test_too_little_is_refused(examples: tuple[Example, ...], tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="two"):
        train_default(examples[:1], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(
    examples: tuple[Example, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InvalidInputError, match=r"pip install 'coarsen\[train\]'"):
        train_default(examples[:60], tmp_path)
