"""From examples to what is learned from: curves for the forest, best factors for the adjustment of devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.default.inputs import COARSENED, Array, Rows, input_rows
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor
from coarsen.models.examples import Example


@dataclass(frozen=True)
class Curve:
    """An example, its inputs at the factors 2 to 32, (F, i), and its log speed-ups there, NaN where unknown."""

    example: Example
    rows: Rows
    observed: Array

    @property
    def is_known(self) -> bool:
        """Return True if any factor was measured."""
        return bool(np.isfinite(self.observed).any())


@dataclass(frozen=True)
class TrainingRows:
    """All measured factors of n curves as r rows, and each curve's weight.

    Args:
        curves: those with a measured factor.
        weights: of the curves, (n,): every device has the same total, and within it every curve. Their mean is 1.
        inputs: (r, i).
        targets: log speed-ups, (r,).
        row_weights: (r,): a curve's weight, divided among its rows.
        groups: each row's family, (r,).
        places: each row's curve and factor, as indices, (r, 2).
    """

    curves: tuple[Curve, ...]
    weights: Array
    inputs: Rows
    targets: Array
    row_weights: Array
    groups: Sequence[str]
    places: NDArray[np.int64]

    @property
    def families(self) -> tuple[str, ...]:
        """Each curve's family."""
        return tuple(curve.example.family for curve in self.curves)


def curve_of(example: Example) -> Curve:
    """Return an example's inputs and answers.

    Raises:
        InvalidInputError: an unknown device, a factor without features, or a speed-up that is not positive.
    """
    if any(not speedup > 0.0 or not np.isfinite(speedup) for speedup in example.speedup.values()):
        raise InvalidInputError(f"{example.kernel} on {example.device}: a speed-up is not a positive number")
    rows = input_rows(example.table, example.mechanism, descriptor_of(example.device))
    return Curve(example, rows, np.array([example.log_speedup(factor) for factor in COARSENED]))


def descriptor_of(device: str) -> DeviceDescriptor:
    """Return the descriptor of a device by its name.

    Raises:
        InvalidInputError: there is none.
    """
    if device not in DEVICE_DESCRIPTORS:
        known = ", ".join(DEVICE_DESCRIPTORS)
        raise InvalidInputError(f"there is no descriptor of the device '{device}'; there is: {known}")
    return DEVICE_DESCRIPTORS[device]


def training_rows(curves: Iterable[Curve]) -> TrainingRows:
    """Return the measured factors of all curves as rows.

    Raises:
        InvalidInputError: fewer than two families were measured, so none can be held out.
    """
    known = tuple(curve for curve in curves if curve.is_known)
    if len({curve.example.family for curve in known}) < 2:
        raise InvalidInputError("the default model learns from measured curves of at least two unrelated kernels")
    observed = np.stack([curve.observed for curve in known])
    places = np.argwhere(np.isfinite(observed))
    weights = _weights(known)
    rows_of_curve = np.isfinite(observed).sum(axis=1)
    return TrainingRows(
        curves=known,
        weights=weights,
        inputs=np.concatenate([curve.rows[np.isfinite(curve.observed)] for curve in known]),
        targets=observed[places[:, 0], places[:, 1]],
        row_weights=(weights / rows_of_curve)[places[:, 0]],
        groups=[known[index].example.family for index in places[:, 0]],
        places=places,
    )


def _weights(curves: Sequence[Curve]) -> Array:
    of_device = Counter(curve.example.device for curve in curves)
    share = np.array([1.0 / of_device[curve.example.device] for curve in curves])
    return np.asarray(share / share.mean())
