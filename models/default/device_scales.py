"""How noisy each device is beside the others: one number that multiplies the variance of the error.

Notation: e is a standardised error, (y − m) / √(c_f (1 + ρ v)), see `error_model.py`.

    t of a device = the weighted mean of e² over its curves

e² has the weighted mean 1 over all curves, so t has it over the devices. A device with few curves, and one with
none, takes t of its kind: the weighted mean of e² over all curves on GPUs, or over all on CPUs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coarsen.models.default.inputs import Array
from coarsen.models.device_descriptors import DeviceDescriptor

Kind = Literal["gpu", "cpu"]
KINDS: tuple[Kind, ...] = ("gpu", "cpu")
FEWEST_CURVES = 30
# Keeps the error of a device that is predicted without any from having no variance at all.
_SMALLEST_SCALE = 1e-4


@dataclass(frozen=True)
class DeviceScales:
    """What multiplies the error's variance on a device: t.

    Args:
        devices: t by name, of the devices with at least 30 training curves.
        kinds: t of the kinds of devices that there are training curves of.
    """

    devices: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[Kind, float] = field(default_factory=dict)

    def of(self, device: DeviceDescriptor) -> float:
        """Return a device's own t, else that of its kind, else 1."""
        return self.devices.get(device.name, self.kinds.get(_kind(device), 1.0))


def fit_device_scales(squares: Array, weight: Array, devices: Sequence[DeviceDescriptor]) -> DeviceScales:
    """Find t of each device and of each kind.

    Args:
        squares: the standardised errors' squares of n curves, (n, F).
        weight: of each, (n, F), 0 where not measured.
        devices: each curve's device.
    """
    known: NDArray[np.bool_] = weight.sum(axis=1) > 0.0
    curves = Counter(device.name for device, is_known in zip(devices, known, strict=True) if is_known)
    names = np.array([device.name for device in devices])
    kinds = np.array([_kind(device) for device in devices])
    return DeviceScales(
        devices={
            name: _mean(squares, weight, names == name)
            for name, count in sorted(curves.items())
            if count >= FEWEST_CURVES
        },
        kinds={kind: _mean(squares, weight, kinds == kind) for kind in KINDS if (known & (kinds == kind)).any()},
    )


def _kind(device: DeviceDescriptor) -> Kind:
    return "gpu" if device.is_gpu else "cpu"


def _mean(squares: Array, weight: Array, chosen: NDArray[np.bool_]) -> float:
    mean = float((weight[chosen] * squares[chosen]).sum() / weight[chosen].sum())
    return max(mean, _SMALLEST_SCALE)
