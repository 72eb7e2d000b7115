"""The functions that users call to predict a kernel's factor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coarsen.api.coarsening import check_type
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.variant.coarsening import Coarsening

if TYPE_CHECKING:
    from coarsen.models.cascade.model import Prediction
    from coarsen.models.launch.prediction import LaunchPrediction


def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int | None = None,
    model: Literal["launch", "cascade"] | None = None,
    local_size: Sequence[int] | None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> LaunchPrediction | Prediction:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Args:
        source: as for `coarsen`.
        device: `tahiti`, or the index or a part of the name of an OpenCL device of this machine.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange to coarsen, 0, 1 or 2. If None, any for the launch model, 0 for a
            cascade.
        model: "launch", or "cascade" for the published predictor (Magni et al., PACT 2014). If None, the cascade
            for the four GPUs of that publication and for a device of which nothing else is known, else the launch
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
        The `factor` (1 leaves the kernel as it is), and how it came about. By the launch model, the `launches`
        that were compared: the own one, and those that merge neighbouring work-items of it along one dimension,
        each with its expected speed-ups and their 80 % intervals; whether it `abstained`, what moved the choice
        most, the nearest training kernels. By the cascade, the steps that led to the factor. `training_kernel`
        names the kernel where it is one of those that the model learned from, so that the answer says nothing of
        how good the model is.

    Raises:
        DeviceError: the device is not known, or there is no model of it.
        InvalidInputError: a bad source, option, dimension, model or local size; a model that can't be read.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    # Imported late: the models load NumPy, which a coarsening by a given factor does without.
    from coarsen import prediction
    from coarsen.user_models import ModelName

    check_type("source", source, (str, Path, TranslationUnit), "text or a path")
    check_type("device", device, (str,), "a name or an index, as text")
    dimension = None if dim is None else Coarsening(1, dim).dimension
    if model not in (None, *ModelName):
        raise InvalidInputError(f"the model is 'launch' or 'cascade', not {model!r}")
    return prediction.predict_factor(
        lower(source, kernel, options, macros),
        device,
        dimension,
        local_size,
        None if models is None else Path(models),
        model=None if model is None else ModelName(model),
        shipped=shipped,
    )
