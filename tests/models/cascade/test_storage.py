"""Models written and read again, and files that must be refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from coarsen.errors import InvalidInputError
from coarsen.features import FeatureTable
from coarsen.models import available_models, load_model
from coarsen.models.cascade.model import SHIPPED
from coarsen.models.cascade.trained import TrainedModel, save_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a shipped model, to be damaged."""
    for suffix in ("json", "safetensors"):
        shutil.copy(SHIPPED / f"tahiti.{suffix}", tmp_path)
    return tmp_path


def change_card(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "tahiti.json"
    card = json.loads(path.read_text())
    change(card)
    path.write_text(json.dumps(card))


def change_numbers(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the numbers and let the card describe the changed file."""
    path = folder / "tahiti.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    change_card(folder, lambda card: card.update(sha256=checksum))


def refusal(folder: Path) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load_model("tahiti", folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_model_read_again_predicts_the_same(
    kepler: TrainedModel, tables: Mapping[str, FeatureTable], tmp_path: Path
) -> None:
    written = save_model(kepler, tmp_path / "models")
    assert [path.name for path in written] == ["kepler.safetensors", "kepler.json"]
    assert available_models(tmp_path / "models") == ("kepler",)
    model = load_model("kepler", tmp_path / "models")
    for table in tables.values():
        assert model.predict(table) == kepler.model.predict(table)


def test_a_training_kernel_is_known_again(
    kepler: TrainedModel, tables: Mapping[str, FeatureTable], tmp_path: Path
) -> None:
    save_model(kepler, tmp_path)
    model = load_model("kepler", tmp_path)
    assert {name: model.predict(table).training_kernel for name, table in tables.items()} == {
        name: name for name in tables
    }
    assert model.predict(replace(tables["sgemm"], identity="")).training_kernel is None


def test_the_default_model_of_former_versions_is_no_cascade(folder: Path) -> None:
    """`coarsen train` put both into one folder."""
    for suffix in ("json", "safetensors"):
        shutil.copy(folder / f"tahiti.{suffix}", folder / f"default.{suffix}")
    assert available_models(folder) == ("tahiti",)
    with pytest.raises(InvalidInputError, match="no model 'default'; there is: tahiti"):
        load_model("default", folder)


def test_the_card_counts_the_seeds(kepler: TrainedModel, tmp_path: Path) -> None:
    _, card = save_model(kepler, tmp_path)
    assert json.loads(card.read_text())["evaluation"]["seeds"] == 2


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="no model 'voodoo'; there is: cypress, fermi, kepler, tahiti"):
        load_model("voodoo")


def test_a_missing_card_is_refused(folder: Path) -> None:
    (folder / "tahiti.json").unlink()
    assert "tahiti.json" in refusal(folder)


@pytest.mark.parametrize("content", [b"", b'{"name": ', b"[]", b"\xff\xfe"])
def test_a_damaged_card_is_refused(folder: Path, content: bytes) -> None:
    (folder / "tahiti.json").write_bytes(content)
    assert "damaged" in refusal(folder)


def test_a_model_for_other_features_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(feature_set_version=99))
    assert "version 99 of the features" in refusal(folder)


def test_a_model_with_other_feature_names_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card["features"].reverse())
    assert "of the features" in refusal(folder)


def test_another_file_format_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(format_version=1))
    assert refusal(folder) == "the model 'tahiti' is in format 1; this version reads 3: train it again"


def test_a_model_of_other_code_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(transforms="lock-step"))
    assert "describes lock-step, this version predicts for replication alone; train it again" in refusal(folder)


def test_other_networks_are_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(networks="per-factor"))
    assert refusal(folder) == "the model 'tahiti' has not one network for all factors; train it again"


@pytest.mark.parametrize("key", ["steps", "dimension", "name"])
def test_an_incomplete_card_is_refused(folder: Path, key: str) -> None:
    change_card(folder, lambda card: card.pop(key))
    assert "damaged" in refusal(folder)


def test_a_missing_step_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card["steps"].pop(1))
    assert "steps" in refusal(folder)


def test_changed_numbers_are_refused(folder: Path) -> None:
    path = folder / "tahiti.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert "damaged" in refusal(folder)


def test_a_file_that_is_not_safetensors_is_refused(folder: Path) -> None:
    path = folder / "tahiti.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    change_card(folder, lambda card: card.update(sha256=checksum))
    assert "damaged" in refusal(folder)


def test_numbers_of_another_shape_are_refused(folder: Path) -> None:
    change_numbers(folder, lambda tensors: tensors.update({"network.hidden_biases": np.zeros(3)}))
    assert "'network.hidden_weights' is of another shape" in refusal(folder)


def test_numbers_that_are_not_finite_are_refused(folder: Path) -> None:
    change_numbers(folder, lambda tensors: tensors["projection.scale"].fill(np.nan))
    assert "'projection.scale' has numbers that are none" in refusal(folder)


def test_missing_numbers_are_refused(folder: Path) -> None:
    change_numbers(folder, lambda tensors: tensors.pop("network.hidden_biases"))
    assert "network.hidden_biases" in refusal(folder)


def test_a_folder_that_cannot_be_made_is_an_input_error(kepler: TrainedModel, tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(InvalidInputError, match="can't be written"):
        save_model(kepler, occupied)
