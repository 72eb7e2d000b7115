"""Writing a trained model: numbers as safetensors, the card as JSON; the same training, the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.model_card import model_card
from coarsen.models.cascade.network import Network
from coarsen.models.cascade.step_inputs import Array
from coarsen.models.cascade.storage import SHIPPED, network_names, projection_names
from coarsen.models.cascade.trained import TrainedModel
from coarsen.models.model_files import write_model


def save_model(trained: TrainedModel, folder: Path = SHIPPED) -> tuple[Path, Path]:
    """Write a model's two files, and say where.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    tensors = dict(_tensors(trained.model))
    return write_model(trained.model.name, folder, tensors, lambda sha256: model_card(trained, sha256))


def _tensors(model: CascadeModel) -> Iterator[tuple[str, Array]]:
    for what, name in projection_names().items():
        yield name, getattr(model.projection, what)
    for step in model.steps:
        parts = {} if step.network is None else _arrays(step.network)
        names = network_names()
        yield from ((names[what], array) for what, array in parts.items())


def _arrays(network: Network) -> dict[str, Array]:
    return {
        "hidden_weights": network.hidden_weights,
        "hidden_biases": network.hidden_biases,
        "output_weights": network.output_weights,
        "output_bias": np.array([network.output_bias]),
    }
