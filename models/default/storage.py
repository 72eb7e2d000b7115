"""Reading and writing the default model: `default.safetensors` with the numbers, `default.json` the card.

forest.feature   uint8    255 at a leaf
forest.number    float16  thresholds and leaves, which are rounded so when the model is fitted
the rest         as it is
"""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, MECHANISM_FEATURE_SET_VERSION
from coarsen.models.default.adjustment import Adjustment
from coarsen.models.default.card import FORMAT_VERSION, Provenance, model_card
from coarsen.models.default.device_scales import KINDS, DeviceScales
from coarsen.models.default.error_model import ErrorModel
from coarsen.models.default.inputs import COARSENED, FEATURE_NAMES, INPUT_NAMES, MECHANISM_NAMES, POINT_NAMES
from coarsen.models.default.model import NAME, DefaultModel
from coarsen.models.default.novelty import Neighbourhood
from coarsen.models.default.step_errors import LEVELS, StepErrors
from coarsen.models.model_files import (
    LARGEST,
    LARGEST_LOGARITHM,
    SMALLEST,
    Card,
    Tensors,
    check_features,
    check_format,
    check_range,
    check_transforms,
    checked_tensor,
    read_card,
    read_tensors,
    write_model,
)
from coarsen.models.trees.flat_forest import LEAF, FlatForest

SHIPPED = Path(__file__).parent / "data"
_STORED_LEAF = 255
# Of variances, which are small themselves, to others.
_LARGEST_RATIO = 1e12
_ROUNDING = 1e-6
_ERROR_ARRAYS = tuple(field.name for field in fields(ErrorModel) if field.name not in ("ratio", "scales"))
_POINT_ARRAYS = ("points", "mean", "scale")


def has_default(folder: Path = SHIPPED) -> bool:
    """Return True if a folder holds a default model."""
    return (folder / f"{NAME}.safetensors").exists()


def load_default(folder: Path = SHIPPED) -> DefaultModel:
    """Load the default model.

    Args:
        folder: where the model's two files are; the shipped models' folder if left out.

    Raises:
        InvalidInputError: there is none, its files are damaged, or it was made for other features.
    """
    if not has_default(folder):
        raise InvalidInputError(
            f"there is no model '{NAME}' in {folder}: `coarsen train --model default` makes one"
        )
    card = read_card(NAME, folder)
    check_format(NAME, card, FORMAT_VERSION)
    check_features(NAME, card, "features", FEATURE_SET_VERSION, FEATURE_NAMES)
    check_features(NAME, card, "mechanism features", MECHANISM_FEATURE_SET_VERSION, MECHANISM_NAMES)
    check_transforms(NAME, card)
    tensors = read_tensors(NAME, folder, card)
    try:
        return _model(card, tensors)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{NAME}' is damaged: {error}") from None


def save_default(model: DefaultModel, provenance: Provenance, folder: Path = SHIPPED) -> tuple[Path, Path]:
    """Write the default model's two files, and say where.

    Args:
        model: the model.
        provenance: what its card says of where it comes from and how good it is.
        folder: made if it is not there.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    return write_model(NAME, folder, _tensors(model), lambda sha256: model_card(model, provenance, sha256))


def _tensors(model: DefaultModel) -> Tensors:
    is_leaf = model.forest.feature == LEAF
    return {
        "forest.feature": np.where(is_leaf, _STORED_LEAF, model.forest.feature).astype(np.uint8),
        "forest.number": model.forest.number.astype(np.float16),
        **{f"errors.{name}": getattr(model.errors, name) for name in _ERROR_ARRAYS},
        "steps.quantiles": model.steps.quantiles,
        **{f"neighbourhood.{name}": getattr(model.neighbourhood, name) for name in _POINT_ARRAYS},
        "medians": model.medians,
    }


def _model(card: Card, tensors: Tensors) -> DefaultModel:
    if card["inputs"] != list(INPUT_NAMES):
        raise ValueError("its inputs are not those of this version")
    return DefaultModel(
        forest=_forest(int(card["settings"]["trees"]), tensors),
        errors=_errors(card["error_model"], tensors),
        steps=_steps(card["error_model"], tensors),
        neighbourhood=_neighbourhood(card["neighbourhood"], tensors),
        medians=checked_tensor(tensors, "medians", (len(COARSENED), len(INPUT_NAMES)), np.float32),
        adjustments={
            str(device): Adjustment(_number(numbers["scale"], 0.0), _number(numbers["slope"]))
            for device, numbers in card["adjustments"].items()
        },
        card=card,
    )


def _forest(trees: int, tensors: Tensors) -> FlatForest:
    feature, number = tensors["forest.feature"], tensors["forest.number"]
    if feature.dtype != np.uint8 or number.dtype != np.float16:
        raise ValueError("the arrays of its trees are of another type")
    wide = feature.astype(np.int16)
    wide[wide == _STORED_LEAF] = LEAF
    forest = FlatForest(trees, wide, number.astype(np.float32))
    forest.check(len(INPUT_NAMES))
    check_range("'forest.number'", forest.number[wide == LEAF], -LARGEST_LOGARITHM, LARGEST_LOGARITHM)
    return forest


def _errors(card: Card, tensors: Tensors) -> ErrorModel:
    factors, by_kind = len(COARSENED), card["kind_scales"]
    variance = checked_tensor(tensors, "errors.variance", (factors,), np.float64, SMALLEST)
    interval = checked_tensor(tensors, "errors.interval", (2,), np.float64)
    correlation = checked_tensor(tensors, "errors.correlation", (factors, factors), np.float64)
    if interval[0] > interval[1] or not _is_correlation(correlation):
        raise ValueError("its errors have an interval that falls, or a correlation that is none")
    return ErrorModel(
        ratio=_number(card["ratio"], 0.0, _LARGEST_RATIO),
        scales=DeviceScales(
            devices={str(name): _number(scale, SMALLEST) for name, scale in card["device_scales"].items()},
            kinds={kind: _number(by_kind[kind], SMALLEST) for kind in KINDS if kind in by_kind},
        ),
        variance=variance,
        correlation=correlation,
        interval=interval,
    )


def _is_correlation(matrix: NDArray[np.float64]) -> bool:
    """Return True if a matrix is symmetric, with ones on its diagonal and no negative eigenvalue."""
    is_close = np.allclose(matrix, matrix.T, atol=_ROUNDING) and np.allclose(
        np.diagonal(matrix), 1, atol=_ROUNDING
    )
    return is_close and bool(np.linalg.eigvalsh(matrix).min() >= -_ROUNDING)


def _steps(card: Card, tensors: Tensors) -> StepErrors:
    quantiles = checked_tensor(tensors, "steps.quantiles", (LEVELS,), np.float64)
    if (np.diff(quantiles) < 0).any():
        raise ValueError("its errors of steps have quantiles that fall")
    return StepErrors(quantiles, _number(card["sharpness"], SMALLEST))


def _neighbourhood(card: Card, tensors: Tensors) -> Neighbourhood:
    kernels, inputs = tuple(map(str, card["kernels"])), len(POINT_NAMES)
    limit = card["limit"]
    return Neighbourhood(
        kernels=kernels,
        points=checked_tensor(tensors, "neighbourhood.points", (len(kernels), inputs), np.float32),
        mean=checked_tensor(tensors, "neighbourhood.mean", (inputs,), np.float64),
        scale=checked_tensor(tensors, "neighbourhood.scale", (inputs,), np.float64, SMALLEST),
        limit=math.inf if limit == "Infinity" else _number(limit, 0.0, math.inf),
    )


def _number(written: float, least: float = -LARGEST, most: float = LARGEST) -> float:
    """A number of the card; one that is not in its range is refused."""
    number = float(written)
    if not least <= number <= most:
        raise ValueError(f"its card says {number} where that can't be")
    return number
