"""The functions that users call to predict a kernel's factor."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from coarsen.api.arguments import check_type
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.variant.coarsening import Coarsening

if TYPE_CHECKING:
    from coarsen.launch_prediction import LaunchFactor
    from coarsen.models import Prediction
    from coarsen.prediction import KernelPrediction

ModelName = Literal["default", "cascade"]


@overload
def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: Literal["default"],
    local_size: Sequence[int] | None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> KernelPrediction: ...


@overload
def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: Literal["cascade"],
    local_size: None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> Prediction: ...


@overload
def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: None = None,
    local_size: Sequence[int] | None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> KernelPrediction | Prediction: ...


def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: ModelName | None = None,
    local_size: Sequence[int] | None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> KernelPrediction | Prediction:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Args:
        source: as for `coarsen`.
        device: `tahiti`, or the index or a part of the name of an OpenCL device of this machine.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange to coarsen, 0, 1 or 2.
        model: "default", or "cascade" for the published predictor (Magni et al., PACT 2014). If None, the cascade
            for the four GPUs of that publication and for a device of which nothing else is known, else the default
            model.
        local_size: of the launch before coarsening, in work-items, one to three numbers. Where it is left out,
            what the kernel requires counts, else 256, 16×16 or 8×8×4 by the dimensions that the kernel uses. The
            cascade takes none.
        models: a folder with models that `coarsen train` stored. If None, as on the command line: the one that the
            user trained; else the shipped one.
        shipped: whether the user's own model is passed over.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device (`DeviceDescription.macros`); what nearly all devices
            have if left out.

    Returns:
        The `factor` (1 leaves the kernel as it is), and how it came about. By the default model, the speed-up over
        factor 1 at each factor with an 80 % interval (`curve`, natural logarithms), the probability that each step
        to the double helps, the features that moved it most, the nearest training kernels, whether it `abstained`.
        By the cascade, the steps that led to the factor. `training_kernel` names the kernel where it is one of
        those that the model learned from, so that the answer says nothing of how good the model is.

    Raises:
        DeviceError: the device is not known, or the model has seen nothing like it.
        InvalidInputError: a bad source, option, dimension, model or local size; a model that can't be read.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    # Imported late: the models load NumPy, which a coarsening by a given factor does without.
    from coarsen import prediction

    check_type("source", source, (str, Path, TranslationUnit), "text or a path")
    check_type("device", device, (str,), "a name or an index, as text")
    dimension = Coarsening(1, dim).dimension
    if model not in (None, "default", "cascade"):
        raise InvalidInputError(f"the model is 'default' or 'cascade', not {model!r}")
    if model == "cascade" and local_size is not None:
        raise InvalidInputError("the cascade takes no local size: its features do not depend on it")
    lowered, folder = lower(source, kernel, options, macros), None if models is None else Path(models)
    if model is None:
        return prediction.device_prediction(lowered, device, dimension, local_size, folder, shipped=shipped)
    if model == "cascade":
        return prediction.published_prediction(lowered, device, dimension, folder, shipped=shipped)
    return prediction.default_prediction(lowered, device, dimension, local_size, folder, shipped=shipped)


def predict_factor(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str,
    options: str | Sequence[str] = (),
    local_size: Sequence[int] | None = None,
    macros: DeviceMacros = PORTABLE,
) -> LaunchFactor | KernelPrediction:
    """Predict the factor for a program: by the launch model, or else by the default model.

    Arguments and errors are those of `predict`. The launch model considers all dimensions, the default one the
    first; where the former knows no device of the kind, the latter answers.
    """
    # Imported late, as in `predict`.
    from coarsen import launch_prediction, prediction
    from coarsen.targets import target_of
    from coarsen.user_models import answers_by_launch_model, launch_model_folder

    lowered = lower(source, kernel, options, macros)
    if answers_by_launch_model(device):
        model = launch_prediction.launch_model(launch_model_folder())
        with contextlib.suppress(DeviceError):
            return launch_prediction.predict_factor(lowered, model, target_of(device), local_size)
    return prediction.default_prediction(lowered, device, 0, local_size)
