"""A model's two files: `<name>.safetensors` holds the numbers, `<name>.json` the model card.

Reading refuses, in one line, a file that is missing or damaged, and a card that was made for another version.
Writing gives the same bytes for the same numbers and card.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors
from safetensors.numpy import save as format_tensors

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError

# No number of a model that was trained comes near it; powers and products of smaller ones are finite.
LARGEST = 1e6
# Of what is divided by: deviations may be of rounding alone, and squares of quotients are finite.
SMALLEST = 1e-100
# Of a natural or binary logarithm of a speed-up.
LARGEST_LOGARITHM = 64.0

Tensors = Mapping[str, NDArray[Any]]
Card = Mapping[str, Any]


def model_name(device: str) -> str:
    """Return the name of a device's model, and of its files: the device's, without what no file's has."""
    return re.sub(r"[^-\w.+() ]", "-", device).strip(". ") or "-"


def model_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the models in a folder, in alphabetical order."""
    return tuple(sorted(path.stem for path in folder.glob("*.safetensors")))


def read_card(name: str, folder: Path) -> Card:
    """Return a model's card.

    Raises:
        InvalidInputError: there is none, or it is damaged.
    """
    path = folder / f"{name}.json"
    try:
        card = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: the model card is damaged ({error})") from None
    if not isinstance(card, dict):
        raise InvalidInputError(f"{path}: the model card is damaged (it is not an object)")
    return card


def read_tensors(name: str, folder: Path, card: Card) -> Tensors:
    """Return a model's numbers.

    Raises:
        InvalidInputError: there are none, or they are not those that the card describes.
    """
    content = read_file(folder / f"{name}.safetensors")
    if hashlib.sha256(content).hexdigest() != card.get("sha256"):
        raise InvalidInputError(f"the model '{name}' is damaged: the card describes other numbers")
    try:
        tensors: Tensors = parse_tensors(content)
    except SafetensorError as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None
    return tensors


def checked_tensor(
    tensors: Tensors,
    name: str,
    shape: tuple[int, ...],
    kind: type[Any],
    least: float = -LARGEST,
    most: float = LARGEST,
    *,
    may_be_empty: bool = False,
) -> NDArray[Any]:
    """Return one of a model's arrays of numbers.

    Args:
        tensors: of the model.
        name: of the array.
        shape: that it must have; `kind` is the type of its numbers.
        least: that a number may be; `most` likewise.
        may_be_empty: whether there may be none.

    Raises:
        ValueError: it isn't so.
    """
    array = tensors[name]
    if array.shape != shape or array.dtype != kind:
        raise ValueError(f"'{name}' is of another shape or type")
    if not array.size and not may_be_empty:
        raise ValueError(f"'{name}' is empty")
    check_range(f"'{name}'", array, least, most)
    return array


def check_range(what: str, numbers: NDArray[Any], least: float, most: float) -> None:
    """Raise ValueError unless all numbers are finite and in a range."""
    if not ((numbers >= least) & (numbers <= most)).all():  # which NaN isn't
        raise ValueError(f"{what} has numbers that are none, or not in {least:g} to {most:g}")


def check_format(name: str, card: Card, version: int) -> None:
    """Refuse another format of the files. Raises InvalidInputError."""
    written = card.get("format_version")
    if written != version:
        raise InvalidInputError(
            f"the model '{name}' is in format {str(written)[:40]}; this version reads {version}: train it again"
        )


def write_model(name: str, folder: Path, tensors: Tensors, card: Callable[[str], Card]) -> tuple[Path, Path]:
    """Write a model's two files, and say where.

    Args:
        name: the model's.
        folder: made if it is not there.
        tensors: the numbers by name.
        card: gives the card for the SHA-256 of the file with the numbers, which it has to hold as `sha256`.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    numbers = format_tensors({key: np.ascontiguousarray(array) for key, array in tensors.items()})
    text = json.dumps(card(hashlib.sha256(numbers).hexdigest()), indent=2, ensure_ascii=False) + "\n"
    paths = folder / f"{name}.safetensors", folder / f"{name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: can't be written: {error.strerror}") from None
    for path, content in zip(paths, (numbers, text.encode()), strict=True):
        replace_file(content, path)
    return paths
