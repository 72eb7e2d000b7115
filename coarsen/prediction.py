"""From a kernel, a device and a model to a prediction.

the default model of all devices, or the cascade of one ──┐
kernel, dimension, local size ─▶ features at every factor ┼─▶ KernelPrediction, or the cascade's Prediction
device ─▶ its figures, and what the model has seen of it ─┘
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.devices.targets import Target, target_of
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.features import feature_table, feature_tables
from coarsen.ir.kernel import Kernel
from coarsen.models import CascadeModel, Prediction, available_models, load_model
from coarsen.models.default.joint import AVERSION
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.prediction import CurvePrediction
from coarsen.models.default.storage import has_default, load_default
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor
from coarsen.models.model_files import model_name
from coarsen.user_models import answers_by_cascade, cascade_called, cascade_folder, default_folder


@dataclass(frozen=True, repr=False)
class KernelPrediction(CurvePrediction):
    """What the default model says of a kernel on a device, for one launch.

    Args:
        local_size: of the launch before coarsening, in work-items; `local_size_is_assumed` where nobody gave it.
        device_note: what the model has not seen of the device, in one sentence; empty where it learned from whole
            curves that were measured on it.
        aversion: what is subtracted for each unit of expected loss: a loss counts 1 + `aversion` times as much
            as a gain of the same size (as logarithms).
    """

    local_size: tuple[int, ...] = ()
    local_size_is_assumed: bool = False
    device_note: str = ""
    aversion: float = AVERSION


def default_prediction(
    kernel: Kernel,
    device: str,
    dimension: int = 0,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    shipped: bool = False,
) -> KernelPrediction:
    """`predict_kernel` by the default model for a device that is called so. Raises as both it and `target_of` do.

    Args:
        folder: with the model; the user's own if None, or the shipped one where there is none or `shipped` is set.
    """
    model = default_model(default_folder(folder, shipped=shipped))
    return predict_kernel(kernel, model, target_of(device), dimension, local_size)


def device_prediction(
    kernel: Kernel,
    device: str,
    dimension: int = 0,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    shipped: bool = False,
) -> KernelPrediction | Prediction:
    """Predict by the model of factors that answers for a device: its cascade, or else the default model.

    Arguments and errors as for `default_prediction`; a cascade takes no local size.
    """
    if not answers_by_cascade(device, folder, shipped=shipped):
        return default_prediction(kernel, device, dimension, local_size, folder, shipped=shipped)
    if local_size is not None:
        raise InvalidInputError(
            f"the cascade of {device} takes no local size: its features do not depend on it; leave it out, or "
            "name another model"
        )
    return published_prediction(kernel, device, dimension, folder, shipped=shipped)


def published_prediction(
    kernel: Kernel, device: str, dimension: int = 0, folder: Path | None = None, *, shipped: bool = False
) -> Prediction:
    """`predict_by_cascade` by the cascade of a device that is called so. Raises as it, and as `target_of`, does.

    Args:
        folder: with the model; the user's own if None, or the shipped one where there is none or `shipped` is set.
    """
    model, _ = chosen_cascade(device, folder, shipped=shipped)
    return predict_by_cascade(kernel, model, dimension)


def predict_kernel(
    kernel: Kernel,
    model: DefaultModel,
    target: Target,
    dimension: int = 0,
    local_size: Sequence[int] | None = None,
) -> KernelPrediction:
    """Predict the whole curve of a lowered kernel.

    Args:
        kernel: what is launched.
        model: a default model.
        target: the device.
        dimension: of the NDRange, along which it is coarsened: 0, 1 or 2.
        local_size: of the launch before coarsening, one to three numbers of work-items; None where it isn't known.

    Raises:
        DeviceError: the model has seen no device of this kind.
        InvalidInputError: a local size that the kernel can't be launched with, or without this dimension.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    note = _device_note(model, target.descriptor)
    launched = checked_local_size(kernel, dimension, local_size)
    table, mechanism = feature_tables(kernel, dimension, launched)
    curve = model.predict(table, mechanism, target.descriptor)
    return KernelPrediction(
        **vars(curve),
        local_size=launched or _without_ones(mechanism.local_size, dimension),
        local_size_is_assumed=launched is None,
        device_note=note,
    )


def predict_by_cascade(kernel: Kernel, model: CascadeModel, dimension: int = 0) -> Prediction:
    """Predict the factor of a lowered kernel as published. Raises RefusalError if it can't be coarsened so."""
    return model.predict(feature_table(kernel, dimension, version=model.settings.feature_set))


def default_model(folder: Path | None = None) -> DefaultModel:
    """Return the default model: the shipped one, loaded once, or the one in a folder. Raises InvalidInputError."""
    if folder is None:
        return _shipped_default()
    if not has_default(folder):
        others = ", ".join(_cascades(folder))
        hint = f"; --model cascade has: {others}" if others else ""
        raise InvalidInputError(f"there is no default model in {folder}{hint}")
    return load_default(folder)


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
        place = cascade_folder(target.descriptor.name, folder, shipped=shipped)
        return cascade_of(target, place), place
    place = cascade_folder(name, folder, shipped=shipped)
    return _loaded(name, place), place


def cascade_of(target: Target, folder: Path | None = None) -> CascadeModel:
    """Return the cascade of a device, a shipped one or one in a folder.

    Raises:
        DeviceError: there is none; the message lists those that there are.
        InvalidInputError: its files are damaged, or made for other features.
    """
    known, name = _cascades(folder), model_name(target.descriptor.name)
    if name not in known:
        where = f" in {folder}" if folder else ""
        raise DeviceError(
            f"there is no cascade of {target}{where}; cascades: {', '.join(known) or 'none'}; "
            "`coarsen train --device NAME` makes one"
        )
    return _loaded(name, folder)


def _loaded(name: str, folder: Path | None) -> CascadeModel:
    return load_model(name) if folder is None else load_model(name, folder)


def _device_note(model: DefaultModel, device: DeviceDescriptor) -> str:
    """Return what the model lacks of a device. Raises DeviceError where it has seen no CPU, or no GPU, at all."""
    measured, published = _learned(model, "curves"), _learned(model, "best_factors")
    if device.name in measured:
        return ""
    if device.name in published:
        others = ", ".join(sorted(measured))
        return (
            f"no whole curve was measured on {device.name}: this one is that of other devices ({others}), "
            f"adjusted to the best factors of {published[device.name]} kernels on {device.name}"
        )
    kind = "GPU" if device.is_gpu else "CPU"
    # Best factors adjust the curve of the one device that they are of, so they tell nothing of another.
    alike = sorted(name for name in measured if _is_gpu(name) == device.is_gpu)
    if not alike:
        raise DeviceError(
            f"no kernel was measured on {device.full_name}, nor on any other {kind}, so nothing can be predicted"
        )
    return (
        f"no kernel was measured on {device.full_name}: this is what the model expects of a device like it, "
        f"from the {kind}s that it learned from ({', '.join(alike)})"
    )


def _is_gpu(name: str) -> bool | None:
    """Return True if a device that a model learned from is a GPU; None of one that this version has forgotten."""
    return DEVICE_DESCRIPTORS[name].is_gpu if name in DEVICE_DESCRIPTORS else None


def _learned(model: DefaultModel, kind: str) -> dict[str, int]:
    """Return how many curves, or best factors, of each device the model learned from, as its card says."""
    data = model.card.get("data")
    counts = data.get(kind) if isinstance(data, dict) else None
    if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
        raise InvalidInputError("the model 'default' is damaged: its card does not say what it learned from")
    return {str(name): count for name, count in counts.items() if count}


def checked_local_size(kernel: Kernel, dimension: int, local_size: Sequence[int] | None) -> tuple[int, ...] | None:
    """Return the local size of a launch, what the kernel requires where it isn't given; None where it is open.

    Raises:
        InvalidInputError: it is not made of whole numbers, or not what the kernel requires.
    """
    required = kernel.required_work_group_size
    if local_size is None:
        return _without_ones(required, dimension) if required else None
    given = _whole_numbers(local_size)
    if required and (*given, 1, 1)[:3] != required:
        wanted, named = ("×".join(map(str, size)) for size in (required, given))
        raise InvalidInputError(f"the kernel {kernel.name} requires the local size {wanted}, not {named}")
    return given


def _whole_numbers(local_size: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(operator.index(extent) for extent in local_size)
    except TypeError:
        raise InvalidInputError(f"a local size is one to three whole numbers, not {local_size!r}") from None


def _without_ones(local_size: tuple[int, int, int], dimension: int) -> tuple[int, ...]:
    """The extents up to the coarsened dimension, and beyond it those that are not 1."""
    used = max(index for index in range(3) if local_size[index] > 1 or index in (0, dimension))
    return local_size[: used + 1]


def _cascades(folder: Path | None) -> tuple[str, ...]:
    return available_models() if folder is None else available_models(folder)


@functools.cache
def _shipped_default() -> DefaultModel:
    return load_default()
