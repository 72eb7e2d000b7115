"""How far predicted times are from measured ones: in the mean, and in the order of an input's versions."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from coarsen.models.trees.arrays import Array


@dataclass(frozen=True, slots=True)
class ModelErrors:
    """Errors of predicted times.

    Attributes:
        absolute: exp of the mean of |ln(predicted / measured)|, less 1: 0.5 is half as much or as little.
        order: Kendall's τ of the versions on an input, the mean over inputs; NaN where no input has two versions.
        predicted: the share of the measured times that have a predicted one.
    """

    absolute: float
    order: float
    predicted: float


def model_errors(predicted: Array, seconds: Array) -> ModelErrors:
    """Compare predicted times with measured ones.

    Args:
        predicted: (n, m); NaN where nothing is predicted.
        seconds: measured, (n, m); NaN where a version failed.
    """
    is_measured = np.isfinite(seconds)
    is_known = is_measured & np.isfinite(predicted)
    if not is_known.any():
        return ModelErrors(math.nan, math.nan, 0.0)
    errors = np.abs(np.log(predicted[is_known] / seconds[is_known]))
    orders = [kendall(predicted[row, own], seconds[row, own]) for row, own in enumerate(is_known) if own.sum() > 1]
    return ModelErrors(
        absolute=float(np.expm1(errors.mean())),
        order=float(np.mean(orders)) if orders else math.nan,
        predicted=float(is_known.sum() / is_measured.sum()),
    )


def kendall(first: Array, second: Array) -> float:
    """Return Kendall's τ of two orders, pairs in the same order less those in the other one, over all (τ-a)."""
    pairs = list(itertools.combinations(range(len(first)), 2))
    signs = [np.sign(first[i] - first[j]) * np.sign(second[i] - second[j]) for i, j in pairs]
    return float(sum(signs) / len(pairs))
