"""A device's cascade in its two files (`model_files.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, FEATURES
from coarsen.models.cascade.model import INPUT_COUNT, STEP_FACTORS, CascadeModel, Network, Projection, StepModel
from coarsen.models.launch.files import NAME as LAUNCH
from coarsen.models.model_files import (
    LARGEST,
    SMALLEST,
    Card,
    Tensors,
    check_format,
    checked_tensor,
    model_names,
    read_card,
    read_tensors,
)

SHIPPED = Path(__file__).parent.parent / "data"
FORMAT_VERSION = 3
# The code that the features describe; a card that says nothing is older than other transforms.
TRANSFORMS = "replication alone"
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
    _check_card(name, card)
    tensors = read_tensors(name, folder, card)
    try:
        projection = _projection(tensors)
        steps = _steps(card["steps"], tensors, projection.weights.shape[1])
        kernels = {str(identity): str(kernel) for kernel, identity in card["data"]["identities"].items()}
        return CascadeModel(str(card["name"]), int(card["dimension"]), projection, steps, card, kernels)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None


def _check_card(name: str, card: Card) -> None:
    """Refuse a model that was made for other features, or other code than this version predicts for."""
    written = card.get("feature_set_version")
    if written != FEATURE_SET_VERSION or card.get("features") != [feature.name for feature in FEATURES]:
        raise InvalidInputError(
            f"the model '{name}' was made for version {written} of the features, this is version "
            f"{FEATURE_SET_VERSION}; train it again"
        )
    described = str(card.get("transforms", TRANSFORMS))[:40]
    if described != TRANSFORMS:
        raise InvalidInputError(
            f"the model '{name}' describes {described}, this version predicts for {TRANSFORMS}; train it again"
        )
    if card.get("networks") != NETWORKS:
        raise InvalidInputError(f"the model '{name}' has not one network for all factors; train it again")


def tensors_of(model: CascadeModel) -> Tensors:
    """Return a model's numbers by their names in the file."""
    found = {f"projection.{part.name}": getattr(model.projection, part.name) for part in fields(Projection)}
    network = model.steps[0].network
    if network is not None:
        parts = {part.name: getattr(network, part.name) for part in fields(Network)}
        found |= {f"network.{name}": np.atleast_1d(array) for name, array in parts.items()}
    return found


def _projection(tensors: Tensors) -> Projection:
    _, components = tensors["projection.weights"].shape
    both = (INPUT_COUNT, components)
    mean, scale = (_array(tensors, "projection", part, (INPUT_COUNT,)) for part in ("mean", "scale"))
    loadings, weights = (_array(tensors, "projection", part, both) for part in ("loadings", "weights"))
    return Projection(mean, scale, loadings, weights, _array(tensors, "projection", "shares", (components,)))


def _steps(cards: list[Mapping[str, Any]], tensors: Tensors, components: int) -> tuple[StepModel, ...]:
    network = None if all(card["constant"] for card in cards) else _network(tensors, components)
    steps = tuple(
        StepModel(int(card["factor"]), int(card["examples"]), int(card["further"]), network) for card in cards
    )
    if tuple(step.factor for step in steps) != STEP_FACTORS:
        raise ValueError(f"its steps are not those at the factors {', '.join(map(str, STEP_FACTORS))}")
    return steps


def _network(tensors: Tensors, components: int) -> Network:
    hidden = len(tensors["network.hidden_biases"])
    weights, biases, outputs, bias = (
        _array(tensors, "network", part, shape)
        for part, shape in (
            ("hidden_weights", (hidden, components)),
            ("hidden_biases", (hidden,)),
            ("output_weights", (hidden,)),
            ("output_bias", (1,)),
        )
    )
    return Network(weights, biases, outputs, float(bias[0]))


def _array(tensors: Tensors, whose: str, what: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    least = SMALLEST if what == "scale" else -LARGEST
    return checked_tensor(tensors, f"{whose}.{what}", shape, np.float64, least)
