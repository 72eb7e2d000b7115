"""From a device's name to its model, and from a kernel and a model to a prediction.

"tahiti", "Tesla K20c", "0:1" ─▶ model ─┐
kernel ─▶ features at every factor ─────┴─▶ Prediction
"""

from __future__ import annotations

import re

from coarsen.errors import DeviceError
from coarsen.features import feature_table
from coarsen.ir.kernel import Kernel
from coarsen.models import CascadeModel, Prediction, available_models, load_model
from coarsen.runtime.devices import discover_devices
from coarsen.runtime.selection import find_device

# The names that OpenCL drivers give the chips that models were trained for, and their close relatives.
_CHIPS = (
    (re.compile(r"\bcypress\b", re.IGNORECASE), "cypress"),
    (re.compile(r"\btahiti\b", re.IGNORECASE), "tahiti"),
    (re.compile(r"\b(?:GTX 4[678]0|(?:Tesla )?[CM]20[57][05])\b"), "fermi"),
    (re.compile(r"\b(?:Tesla K(?:20|40)\w*|GTX (?:780|TITAN))\b", re.IGNORECASE), "kepler"),
)


def predict_kernel(kernel: Kernel, model: CascadeModel, dimension: int = 0) -> Prediction:
    """Predict the factor of a lowered kernel. Raises RefusalError if it can't be coarsened that way."""
    return model.predict(feature_table(kernel, dimension))


def model_for(device: str) -> CascadeModel:
    """The model of a device.

    Args:
        device: a model's name in upper or lower case, a chip's name (`Tesla K20c`), or whatever names an
            OpenCL device of this machine (see `coarsen.runtime.selection.find_device`).

    Raises:
        DeviceError: nothing is called so, or what is has no model; the message lists the models.
    """
    wanted = device.strip()
    if wanted.casefold() in available_models():
        return load_model(wanted.casefold())
    model = model_of_opencl_device(wanted) or _model_of_installed_device(wanted)
    if model is None:
        raise DeviceError(f"'{device}' is neither a model nor an OpenCL device; {_known_models()}")
    return model


def model_of_opencl_device(name: str) -> CascadeModel | None:
    """The model of the chip that an OpenCL driver names, or None."""
    found = next((model for chip, model in _CHIPS if chip.search(name)), None)
    return load_model(found) if found in available_models() else None


def _model_of_installed_device(spec: str) -> CascadeModel | None:
    """The model of an OpenCL device of this machine; None where none is called so."""
    if not any(device.index == spec or device.is_called(spec) for device in discover_devices() if spec):
        return None
    description = find_device(spec)
    model = model_of_opencl_device(description.name)
    if model is None:
        raise DeviceError(f"the OpenCL device {description} has no model; {_known_models()}")
    return model


def _known_models() -> str:
    return f"models: {', '.join(available_models()) or 'none'}"
