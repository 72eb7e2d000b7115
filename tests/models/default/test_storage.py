"""The model written and read again, what its card says, and files that must be refused."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, MECHANISM_FEATURE_SET_VERSION
from coarsen.models.default.card import Provenance
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.provenance import provenance_of
from coarsen.models.default.storage import has_default, load_default, save_default
from coarsen.models.default.training import Fitted, ForestSettings, train
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.examples import Example
from tests.models.default.made_up import with_best_factor_alone

SMALL = ForestSettings(trees=12)
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def learned_from(examples: tuple[Example, ...]) -> tuple[Example, ...]:
    known = (with_best_factor_alone(example, "tahiti", example.best_factor) for example in examples[:30:3])
    return (*examples[:90], *known)


@pytest.fixture(scope="module")
def model(learned_from: tuple[Example, ...]) -> DefaultModel:
    return train(learned_from, seed=0, settings=SMALL).model


@pytest.fixture
def provenance(learned_from: tuple[Example, ...]) -> Provenance:
    return provenance_of(learned_from, 0, SMALL, "2030-01-02", ["made up"], {"share": 0.5})


@pytest.fixture
def folder(model: DefaultModel, provenance: Provenance, tmp_path: Path) -> Path:
    """A stored model, to be damaged."""
    save_default(model, provenance, tmp_path)
    return tmp_path


def change_card(folder: Path, change: Change) -> None:
    path = folder / "default.json"
    card = json.loads(path.read_text())
    change(card)
    path.write_text(json.dumps(card))


def change_numbers(folder: Path, change: Change) -> None:
    """Change the numbers and let the card describe the changed file."""
    path = folder / "default.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
    change_card(folder, lambda card: card.update(sha256=hashlib.sha256(path.read_bytes()).hexdigest()))


def refusal(folder: Path) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load_default(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_model_read_again_predicts_the_same(
    model: DefaultModel, folder: Path, learned_from: tuple[Example, ...]
) -> None:
    again = load_default(folder)
    for example in (*learned_from[:6], learned_from[-1]):
        descriptor = DEVICE_DESCRIPTORS[example.device]
        first, second = (each.predict(example.table, example.mechanism, descriptor) for each in (model, again))
        assert first == second


def test_training_again_gives_the_same_bytes(
    folder: Path, learned_from: tuple[Example, ...], provenance: Provenance, tmp_path: Path
) -> None:
    again = train(learned_from, seed=0, settings=SMALL, threads=2).model
    written = save_default(again, provenance, tmp_path / "again")
    assert [path.read_bytes() for path in written] == [(folder / path.name).read_bytes() for path in written]


def test_the_card_says_what_the_model_is(folder: Path) -> None:
    card = load_default(folder).card
    assert card["date"] == "2030-01-02"
    assert card["evaluation"] == {"share": 0.5}
    assert card["data"] == {
        "sources": ["made up"],
        "curves": {"h200": 30, "intel": 30, "pocl": 30},
        "best_factors": {"tahiti": 10},
        "kernels": 30,
        "families": 30,
        "identities": {},
        "best_factor_identities": {},
    }
    assert card["transforms"] == "replication alone"
    assert set(card["error_model"]["device_scales"]) == {"h200", "intel", "pocl"}  # type: ignore[index]
    assert set(card["error_model"]["kind_scales"]) == {"cpu", "gpu"}  # type: ignore[index]
    assert card["settings"] == {"trees": 12, "max_features": 0.5, "min_samples_leaf": 3, "seed": 0}
    assert set(card["versions"]) == {"coarsen", "numpy", "scikit-learn"}  # type: ignore[call-overload]


def test_the_whole_forest_is_small_and_loads_fast(fitted: Fitted, provenance: Provenance, tmp_path: Path) -> None:
    """The duration is printed, not asserted: it depends on what else the machine does."""
    numbers, _ = save_default(fitted.model, provenance, tmp_path)
    start = time.perf_counter()
    load_default(tmp_path)
    print(f"{numbers.stat().st_size / 1e6:.2f} MB loaded in {1e3 * (time.perf_counter() - start):.1f} ms")
    assert numbers.stat().st_size < 2_000_000


def test_without_a_model_it_says_how_to_get_one(tmp_path: Path) -> None:
    assert not has_default(tmp_path)
    assert "coarsen train" in refusal(tmp_path)


def test_a_missing_card_is_refused(folder: Path) -> None:
    (folder / "default.json").unlink()
    assert "default.json" in refusal(folder)


@pytest.mark.parametrize("content", [b"", b'{"name": ', b"[]", b"\xff\xfe"])
def test_a_damaged_card_is_refused(folder: Path, content: bytes) -> None:
    (folder / "default.json").write_bytes(content)
    assert "damaged" in refusal(folder)


def test_another_format_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(format_version=99))
    assert "format 99" in refusal(folder)


def test_other_features_are_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(feature_set_version=FEATURE_SET_VERSION + 1))
    assert f"version {FEATURE_SET_VERSION + 1} of the features" in refusal(folder)


def test_a_model_of_other_code_is_refused(folder: Path) -> None:
    change_card(folder, lambda card: card.update(transforms="lock-step"))
    assert "describes lock-step, this version predicts for replication alone; train it again" in refusal(folder)


def test_other_mechanism_features_are_refused(folder: Path) -> None:
    other = MECHANISM_FEATURE_SET_VERSION + 1
    change_card(folder, lambda card: card.update(mechanism_feature_set_version=other))
    assert f"version {other} of the mechanism features, this is version {other - 1}; train it again" in refusal(
        folder
    )


@pytest.mark.parametrize("names", ["features", "mechanism_features", "inputs"])
def test_features_in_another_order_are_refused(folder: Path, names: str) -> None:
    change_card(folder, lambda card: card[names].reverse())
    assert "default" in refusal(folder)


@pytest.mark.parametrize("key", ["settings", "error_model", "adjustments", "neighbourhood", "inputs"])
def test_an_incomplete_card_is_refused(folder: Path, key: str) -> None:
    change_card(folder, lambda card: card.pop(key))
    assert "damaged" in refusal(folder)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), None, "much"])
def test_an_impossible_scale_of_a_device_is_refused(folder: Path, scale: object) -> None:
    change_card(folder, lambda card: card["error_model"]["device_scales"].update(pocl=scale))
    assert "damaged" in refusal(folder)


@pytest.mark.parametrize(
    ("part", "key", "number"),
    [
        ("error_model", "ratio", -1.0),
        ("error_model", "ratio", float("nan")),
        ("error_model", "sharpness", 0.0),
        ("error_model", "sharpness", float("inf")),
        ("neighbourhood", "limit", float("nan")),
        ("adjustments", "tahiti", {"scale": float("nan"), "slope": 0.0}),
        ("adjustments", "tahiti", {"scale": 1.0, "slope": float("inf")}),
    ],
)
def test_impossible_numbers_of_a_card_are_refused(folder: Path, part: str, key: str, number: object) -> None:
    """With a limit that is no number, for one, the model would never abstain."""
    change_card(folder, lambda card: card[part].update({key: number}))
    assert "damaged" in refusal(folder)


def test_a_model_may_find_nothing_too_far(folder: Path) -> None:
    change_card(folder, lambda card: card["neighbourhood"].update(limit="Infinity"))
    assert load_default(folder).neighbourhood.limit == math.inf


@pytest.mark.parametrize("key", ["device_scales", "kind_scales"])
def test_scales_of_another_form_are_refused(folder: Path, key: str) -> None:
    change_card(folder, lambda card: card["error_model"].update({key: 1.0}))
    assert "damaged" in refusal(folder)


def test_changed_numbers_are_refused(folder: Path) -> None:
    path = folder / "default.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert "describes other numbers" in refusal(folder)


def test_a_file_that_is_not_safetensors_is_refused(folder: Path) -> None:
    path = folder / "default.safetensors"
    path.write_bytes(path.read_bytes()[:50])
    change_card(folder, lambda card: card.update(sha256=hashlib.sha256(path.read_bytes()).hexdigest()))
    assert "damaged" in refusal(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop("forest.number"),
        lambda tensors: tensors.pop("steps.quantiles"),
        lambda tensors: tensors.update({"medians": np.zeros((2, 2), dtype=np.float32)}),
        lambda tensors: tensors["errors.variance"].fill(np.nan),
        lambda tensors: tensors.update({"forest.feature": tensors["forest.feature"][:-1]}),
        lambda tensors: tensors["forest.feature"].fill(0),
        lambda tensors: tensors.update({"forest.number": tensors["forest.number"].astype(np.float32)}),
    ],
    ids=["no thresholds", "no steps", "shape", "not finite", "short", "no leaves", "other type"],
)
def test_numbers_that_are_not_a_model_are_refused(folder: Path, change: Change) -> None:
    change_numbers(folder, change)
    assert "damaged" in refusal(folder)


def test_a_folder_that_cannot_be_made_is_an_input_error(
    model: DefaultModel, provenance: Provenance, tmp_path: Path
) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(InvalidInputError, match="can't be written"):
        save_default(model, provenance, occupied)


def test_reading_a_model_needs_no_scikit_learn() -> None:
    heavy = ("sklearn", "scipy", "torch", "pandas")
    code = f"import sys, coarsen.models.default; print(*(m for m in {heavy!r} if m in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
