"""Reading a device's cascade from its two files (`model_files.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, FEATURES
from coarsen.models.cascade.model import INPUT_COUNT, STEP_FACTORS, CascadeModel, Network, Projection, StepModel
from coarsen.models.launch.files import NAME as LAUNCH
from coarsen.models.model_files import (
    LARGEST,
    SMALLEST,
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
# One network that is asked at every factor (PACT 2014, section 6.2).
NETWORKS = "one"
# The models of all devices: the launch model, and one that former versions trained.
_OF_ALL_DEVICES = (LAUNCH, "default")


def available_models(folder: Path = SHIPPED) -> tuple[str, ...]:
    """Return the names of the cascades in a folder, where the models of all devices may be too.

    Args:
        folder: of models; the shipped models' folder if left out.

    Returns:
        The names, in alphabetical order.
    """
    return tuple(name for name in model_names(folder) if name not in _OF_ALL_DEVICES)


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
    check_features(name, card, "features", FEATURE_SET_VERSION, tuple(feature.name for feature in FEATURES))
    check_transforms(name, card)
    if card.get("networks") != NETWORKS:
        raise InvalidInputError(f"the model '{name}' has not one network for all factors; train it again")
    tensors = read_tensors(name, folder, card)
    try:
        projection = _projection(tensors)
        steps = _steps(card["steps"], tensors, projection.weights.shape[1])
        kernels = {str(identity): str(kernel) for kernel, identity in card["data"]["identities"].items()}
        return CascadeModel(str(card["name"]), int(card["dimension"]), projection, steps, card, kernels)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None


def projection_names() -> Mapping[str, str]:
    """Return what the arrays of the projection are called in the file, by what they are."""
    return {part: f"projection.{part}" for part in ("mean", "scale", "loadings", "weights", "shares")}


def network_names() -> Mapping[str, str]:
    """Return what the arrays of the network that all steps share are called in the file, by what they are."""
    parts = ("hidden_weights", "hidden_biases", "output_weights", "output_bias")
    return {part: f"network.{part}" for part in parts}


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


def _steps(cards: list[Mapping[str, Any]], tensors: Tensors, components: int) -> tuple[StepModel, ...]:
    steps = tuple(_step(card, tensors, components) for card in cards)
    if tuple(step.factor for step in steps) != STEP_FACTORS:
        raise ValueError(f"its steps are not those at the factors {', '.join(map(str, STEP_FACTORS))}")
    return steps


def _step(card: Mapping[str, Any], tensors: Tensors, components: int) -> StepModel:
    factor, examples, further = int(card["factor"]), int(card["examples"]), int(card["further"])
    if card["constant"]:
        return StepModel(factor, examples, further)
    part = {what: tensors[name] for what, name in network_names().items()}
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
