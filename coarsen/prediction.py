"""From a kernel and a device to a factor, by the one model that answers for the device.

the launch model, held to factors ──┐
kernel, dimension, local size ──────┼─▶ LaunchPrediction, or the cascade's Prediction: both have a `factor`
the cascade of the device ──────────┘
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import DeviceError, InvalidInputError
from coarsen.features import feature_table
from coarsen.ir.kernel import Kernel
from coarsen.launch_prediction import AskedLaunch, launch_model, predict_launch, whole_numbers
from coarsen.models import CascadeModel, Prediction, available_models, load_model
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.models.model_files import model_name
from coarsen.targets import Target, target_of
from coarsen.user_models import ModelName, answering_model, cascade_called, cascade_folder, launch_model_folder


def predict_factor(
    kernel: Kernel,
    device: str,
    dimension: int | None = None,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    model: ModelName | None = None,
    shipped: bool = False,
) -> LaunchPrediction | Prediction:
    """Predict a factor by the model that answers for a device.

    Args:
        kernel: what is launched.
        device: a name that a cascade has, or any that `target_of` takes.
        dimension: of the NDRange, along which the kernel is coarsened; None: any for the launch model, 0 for a
            cascade.
        local_size: of the launch before coarsening; None for what the kernel requires, or else the usual one.
        folder: with the model; the user's own if None, or the shipped one where there is none.
        model: the one to ask; None for the one that answers for the device.
        shipped: whether the user's own models are passed over.

    Raises:
        DeviceError: there is no such device, or no model of it.
        InvalidInputError: a local size that the kernel can't be launched with, or any for a cascade; a model's
            files are damaged.
        RefusalError: the kernel can't be coarsened.
    """
    if (model or answering_model(device, folder, shipped=shipped)) is ModelName.LAUNCH:
        return predict_by_launch_model(kernel, device, dimension, local_size, folder, shipped=shipped)
    if local_size is not None:
        raise InvalidInputError(
            f"the cascade of {device} takes no local size: its features do not depend on it; leave it out, or "
            "name another model"
        )
    cascade, _ = chosen_cascade(device, folder, shipped=shipped)
    return predict_by_cascade(kernel, cascade, dimension or 0)


def predict_by_launch_model(
    kernel: Kernel,
    device: str,
    dimension: int | None = None,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    shipped: bool = False,
) -> LaunchPrediction:
    """Predict a factor by the launch model. Arguments and errors as for `predict_factor`."""
    size = None if local_size is None else whole_numbers(local_size)
    model = launch_model(launch_model_folder(folder, shipped=shipped))
    asked = AskedLaunch(size, dimension=dimension, factors_only=True)
    return predict_launch(kernel, model, target_of(device), asked)


def predict_by_cascade(kernel: Kernel, model: CascadeModel, dimension: int = 0) -> Prediction:
    """Predict the factor of a lowered kernel as published. Raises RefusalError if it can't be coarsened so."""
    return model.predict(feature_table(kernel, dimension))


def chosen_cascade(
    device: str, folder: Path | None = None, *, shipped: bool = False
) -> tuple[CascadeModel, Path | None]:
    """Return the cascade for a device that is called so, and the folder that it is from; None for the package.

    Args:
        device: a name that a cascade has, or any that `target_of` takes.
        folder: with the cascade; the user's own if None, or the shipped one where there is none.
        shipped: whether the user's own is passed over.

    Raises:
        DeviceError: there is no such device, or no cascade of it.
        InvalidInputError: its files are damaged, or made for other features.
    """
    name = cascade_called(device, folder, shipped=shipped)
    if name is None:
        target = target_of(device)
        name = model_name(target.descriptor.name)
        _check_there(name, target, cascade_folder(name, folder, shipped=shipped))
    place = cascade_folder(name, folder, shipped=shipped)
    return load_model(name) if place is None else load_model(name, place), place


def _check_there(name: str, target: Target, folder: Path | None) -> None:
    """Raise DeviceError where there is no cascade of this name; the message lists those that there are."""
    known = available_models() if folder is None else available_models(folder)
    if name not in known:
        where = f" in {folder}" if folder else ""
        raise DeviceError(
            f"there is no cascade of {target}{where}; cascades: {', '.join(known) or 'none'}; "
            "`coarsen train --device NAME` makes one"
        )
