"""A model's two files: what is written is read again, and what was changed since is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.model_files import (
    check_format,
    model_names,
    read_card,
    read_tensors,
    write_model,
)

TENSORS: dict[str, NDArray[Any]] = {
    "numbers": np.arange(6, dtype=np.float16).reshape(2, 3),
    "transposed": np.eye(3)[:, ::-1].T,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model("sketch", tmp_path, TENSORS, lambda sha256: {"sha256": sha256, "name": "sketch"})
    return tmp_path


def test_what_is_written_is_read_again(folder: Path) -> None:
    assert model_names(folder) == ("sketch",)
    card = read_card("sketch", folder)
    tensors = read_tensors("sketch", folder, card)
    assert card["name"] == "sketch"
    assert all(np.array_equal(tensors[name], array) for name, array in TENSORS.items())
    assert tensors["numbers"].dtype == np.float16


def test_the_same_numbers_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write_model("sketch", tmp_path / "again", dict(reversed(TENSORS.items())), lambda sha: {"sha256": sha})
    assert again[0].read_bytes() == (folder / "sketch.safetensors").read_bytes()


def test_other_numbers_than_the_card_describes_are_refused(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="describes other numbers"):
        read_tensors("sketch", folder, {**read_card("sketch", folder), "sha256": "0"})


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"sketch\.json: can't be read: No such file"):
        read_card("sketch", tmp_path)
    with pytest.raises(InvalidInputError, match=r"sketch\.safetensors: can't be read: No such file"):
        read_tensors("sketch", tmp_path, {})


def test_a_card_that_is_no_object_is_refused(folder: Path) -> None:
    (folder / "sketch.json").write_text(json.dumps(["sketch"]))
    with pytest.raises(InvalidInputError, match="it is not an object"):
        read_card("sketch", folder)


def test_a_format_of_another_version_is_refused() -> None:
    card = {"format_version": 3}
    check_format("sketch", card, 3)
    with pytest.raises(InvalidInputError, match="is in format 3; this version reads 4"):
        check_format("sketch", card, 4)
