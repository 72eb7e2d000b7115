"""Writing a trained model: numbers as safetensors, the card as JSON; the same training, the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save as format_tensors

from coarsen.errors import InvalidInputError

from .inference import StepModel
from .model_card import model_card
from .step_inputs import Array
from .storage import SHIPPED, tensor_names
from .train import TrainedModel


def save_model(trained: TrainedModel, folder: Path = SHIPPED) -> tuple[Path, Path]:
    """Write a model's two files, and say where.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    tensors = dict(pair for step in trained.model.steps for pair in _tensors(step))
    numbers = format_tensors(tensors)
    card = model_card(trained, hashlib.sha256(numbers).hexdigest())
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    paths = folder / f"{trained.model.name}.safetensors", folder / f"{trained.model.name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths[0].write_bytes(numbers)
        paths[1].write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidInputError(f"{folder}: the model can't be written ({error.strerror})") from None
    return paths


def _tensors(step: StepModel) -> Iterator[tuple[str, Array]]:
    if step.projection is None or step.network is None:
        return
    parts = {
        "mean": step.projection.mean,
        "scale": step.projection.scale,
        "components": step.projection.components,
        "hidden_weights": step.network.hidden_weights,
        "hidden_biases": step.network.hidden_biases,
        "output_weights": step.network.output_weights,
        "output_bias": np.array([step.network.output_bias]),
    }
    for what, name in tensor_names(step.factor).items():
        yield name, np.ascontiguousarray(parts[what])
