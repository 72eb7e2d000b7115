"""Reading a device's cascade from its two files (`model_files.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SETS
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network import Network, StepModel
from coarsen.models.cascade.projection import Projection
from coarsen.models.cascade.settings import CascadeSettings, Networks
from coarsen.models.cascade.step_inputs import INPUT_COUNT, STEP_FACTORS
from coarsen.models.launch.files import NAME as LAUNCH
from coarsen.models.model_files import (
    DEFAULT,
    LARGEST,
    SMALLEST,
    Card,
    Tensors,
    check_features,
    check_format,
    check_range,
    check_transforms,
    model_names,
    read_card,
    read_tensors,
)

SHIPPED = Path(__file__).parent.parent / "data"
FORMAT_VERSION = 3


def available_models(folder: Path = SHIPPED) -> tuple[str, ...]:
    """Return the names of the cascades in a folder, where the models of all devices may be too.

    Args:
        folder: of models; the shipped models' folder if left out.

    Returns:
        The names, in alphabetical order.
    """
    return tuple(name for name in model_names(folder) if name not in (DEFAULT, LAUNCH))


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
    card = read_card(name, folder)
    check_format(name, card, FORMAT_VERSION)
    version = _feature_set(name, card)
    check_transforms(name, card)
    tensors = read_tensors(name, folder, card)
    try:
        settings = _settings(card, version)
        projection = _projection(tensors)
        steps = _steps(card["steps"], tensors, projection.weights.shape[1], settings.networks)
        kernels = {str(identity): str(kernel) for kernel, identity in card["data"]["identities"].items()}
        return CascadeModel(str(card["name"]), int(card["dimension"]), projection, steps, card, settings, kernels)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None


def _feature_set(name: str, card: Card) -> int:
    """The version of the features that a model takes. Raises InvalidInputError where this package has no such."""
    written = card.get("feature_set_version")
    version = written if isinstance(written, int) and written in FEATURE_SETS else max(FEATURE_SETS)
    check_features(name, card, "features", version, tuple(feature.name for feature in FEATURE_SETS[version]))
    return version


def _settings(card: Card, version: int) -> CascadeSettings:
    count = card["training"]["components"]
    return CascadeSettings(Networks(card["networks"]), version, None if count is None else int(count))


def projection_names() -> Mapping[str, str]:
    """Return what the arrays of the projection are called in the file, by what they are."""
    return {part: f"projection.{part}" for part in ("mean", "scale", "loadings", "weights", "shares")}


def network_names(factor: int, networks: Networks) -> Mapping[str, str]:
    """Return what the arrays of one step's network are called in the file, by what they are.

    All steps may share one.
    """
    parts = ("hidden_weights", "hidden_biases", "output_weights", "output_bias")
    network = "network" if networks is Networks.ONE else f"step{factor}"
    return {part: f"{network}.{part}" for part in parts}


def _projection(tensors: Tensors) -> Projection:
    part = {what: tensors[name] for what, name in projection_names().items()}
    _, components = part["weights"].shape
    both = (INPUT_COUNT, components)
    shapes = {
        "mean": (INPUT_COUNT,),
        "scale": (INPUT_COUNT,),
        "loadings": both,
        "weights": both,
        "shares": (components,),
    }
    _check_shapes("the projection", part, shapes)
    return Projection(**part)


def _steps(
    cards: list[Mapping[str, Any]], tensors: Tensors, components: int, networks: Networks
) -> tuple[StepModel, ...]:
    steps = tuple(_step(card, tensors, components, networks) for card in cards)
    if tuple(step.factor for step in steps) != STEP_FACTORS:
        raise ValueError(f"its steps are not those at the factors {', '.join(map(str, STEP_FACTORS))}")
    return steps


def _step(card: Mapping[str, Any], tensors: Tensors, components: int, networks: Networks) -> StepModel:
    factor, examples, further = int(card["factor"]), int(card["examples"]), int(card["further"])
    if card["constant"]:
        return StepModel(factor, examples, further)
    part = {what: tensors[name] for what, name in network_names(factor, networks).items()}
    hidden = len(part["hidden_biases"])
    shapes = {
        "hidden_weights": (hidden, components),
        "hidden_biases": (hidden,),
        "output_weights": (hidden,),
        "output_bias": (1,),
    }
    _check_shapes(f"the step at factor {factor}", part, shapes)
    weights = part["hidden_weights"], part["hidden_biases"], part["output_weights"]
    return StepModel(factor, examples, further, Network(*weights, float(part["output_bias"][0])))


def _check_shapes(whose: str, part: Tensors, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for what, shape in shapes.items():
        if part[what].shape != shape or part[what].dtype != np.float64:
            raise ValueError(f"'{what}' of {whose} is of another shape or type")
        check_range(f"'{what}' of {whose}", part[what], SMALLEST if what == "scale" else -LARGEST, LARGEST)
