"""Reading models: `<name>.safetensors` holds the numbers, `<name>.json` the model card.

A model is refused, in one line, if a file is missing or damaged, or was made for another version of the
features.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, FEATURES

from .cascade import CascadeModel
from .inference import Network, Projection, StepModel
from .step_inputs import INPUT_COUNT, STEP_FACTORS, Array

SHIPPED = Path(__file__).parent / "data"
FORMAT_VERSION = 1

Tensors = Mapping[str, Array]


def available_models(folder: Path = SHIPPED) -> tuple[str, ...]:
    """The names of the models in a folder, in alphabetical order."""
    return tuple(sorted(path.stem for path in folder.glob("*.safetensors")))


def load_model(name: str, folder: Path = SHIPPED) -> CascadeModel:
    """Load a model.

    Args:
        name: such as `tahiti`.
        folder: where the model's two files are; the shipped models' folder if left out.

    Raises:
        InvalidInputError: no such model, a damaged file, or a model for another version of the features.
    """
    if name not in available_models(folder):
        known = ", ".join(available_models(folder)) or "none"
        raise InvalidInputError(f"there is no model '{name}'; there is: {known}")
    card = _read_card(folder / f"{name}.json")
    _check_versions(name, card)
    content = _read(folder / f"{name}.safetensors")
    if hashlib.sha256(content).hexdigest() != card.get("sha256"):
        raise InvalidInputError(f"the model '{name}' is damaged: the card describes other numbers")
    try:
        tensors = parse_tensors(content)
        steps = _steps(card["steps"], tensors)
        return CascadeModel(str(card["name"]), int(card["dimension"]), steps, card)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None


def tensor_names(factor: int) -> Mapping[str, str]:
    """What the arrays of one step are called in the file, by what they are."""
    parts = (
        "mean",
        "scale",
        "components",
        "hidden_weights",
        "hidden_biases",
        "output_weights",
        "output_bias",
    )
    return {part: f"step{factor}.{part}" for part in parts}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}") from None


def _read_card(path: Path) -> dict[str, Any]:
    try:
        card = json.loads(_read(path))
    except ValueError as error:
        raise InvalidInputError(f"{path}: the model card is damaged ({error})") from None
    if not isinstance(card, dict):
        raise InvalidInputError(f"{path}: the model card is damaged (it is not an object)")
    return card


def _check_versions(name: str, card: Mapping[str, Any]) -> None:
    written = card.get("format_version")
    if written != FORMAT_VERSION:
        raise InvalidInputError(f"the model '{name}' is in format {written}; this version reads {FORMAT_VERSION}")
    version, names = card.get("feature_set_version"), [feature.name for feature in FEATURES]
    if version != FEATURE_SET_VERSION or card.get("features") != names:
        raise InvalidInputError(
            f"the model '{name}' was made for version {version} of the features, this is version "
            f"{FEATURE_SET_VERSION}; train it again"
        )


def _steps(cards: list[Mapping[str, Any]], tensors: Tensors) -> tuple[StepModel, ...]:
    steps = tuple(_step(card, tensors) for card in cards)
    if tuple(step.factor for step in steps) != STEP_FACTORS:
        raise ValueError(f"its steps are not those at the factors {', '.join(map(str, STEP_FACTORS))}")
    return steps


def _step(card: Mapping[str, Any], tensors: Tensors) -> StepModel:
    factor, examples, further = int(card["factor"]), int(card["examples"]), int(card["further"])
    if card["constant"]:
        return StepModel(factor, examples, further)
    part = {what: tensors[name] for what, name in tensor_names(factor).items()}
    _check_shapes(factor, part)
    projection = Projection(part["mean"], part["scale"], part["components"])
    network = Network(
        part["hidden_weights"], part["hidden_biases"], part["output_weights"], float(part["output_bias"][0])
    )
    return StepModel(factor, examples, further, projection, network)


def _check_shapes(factor: int, part: Tensors) -> None:
    hidden, components = part["hidden_weights"].shape
    expected = {
        "mean": (INPUT_COUNT,),
        "scale": (INPUT_COUNT,),
        "components": (components, INPUT_COUNT),
        "hidden_weights": (hidden, components),
        "hidden_biases": (hidden,),
        "output_weights": (hidden,),
        "output_bias": (1,),
    }
    for what, shape in expected.items():
        if part[what].shape != shape or part[what].dtype != np.float64 or not np.isfinite(part[what]).all():
            raise ValueError(f"'{what}' of the step at factor {factor} is not what it should be")
