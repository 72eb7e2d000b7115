"""Which model answers for a device, and where its files are.

fermi, kepler, cypress, tahiti       ─▶ the device's cascade
a device that only a cascade knows   ─▶ that cascade
else                                 ─▶ the launch model

a folder is named     ─▶ that
the user trained one  ─▶ the user's folder, where `coarsen train` puts it
else                  ─▶ the package (None)
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from coarsen.errors import DeviceError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor
from coarsen.models.device_descriptors import DEVICES as PUBLISHED_DEVICES
from coarsen.models.launch import has_launch

if TYPE_CHECKING:
    from coarsen.models import CascadeModel
    from coarsen.targets import Target


class ModelName(enum.StrEnum):
    """The predictor that answers."""

    LAUNCH = "launch"
    CASCADE = "cascade"


def user_models() -> Path:
    """Return the folder in which `coarsen train` stores models."""
    return platformdirs.user_data_path("coarsen") / "models"


def answering_model(device: str, folder: Path | None = None, *, shipped: bool = False) -> ModelName:
    """Return the model that answers for a device where nobody names one.

    Args:
        device: what the user calls it; it need not be known.
        folder: where models are; None for the user's own and the package's.
        shipped: whether the user's own models are passed over.
    """
    known = DEVICE_DESCRIPTORS.get(device.strip().casefold()) or known_descriptor(device.strip())
    is_published = known is None or known.name in PUBLISHED_DEVICES
    by_launch = not is_published and (folder is None or has_launch(folder))
    if by_launch or cascade_called(known.name if known else device, folder, shipped=shipped) is None:
        return ModelName.LAUNCH
    return ModelName.CASCADE


def launch_model_folder(folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of the launch model; None for the package's.

    Args:
        folder: one that is named.
        shipped: whether the user's own model is passed over.
    """
    return _folder(folder, shipped, has_launch)


def cascade_folder(device: str, folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of a device's cascade; None for the package's. Arguments as for `launch_model_folder`."""
    # Imported late, here and below: they load NumPy.
    from coarsen.models import available_models
    from coarsen.models.model_files import model_name

    return _folder(folder, shipped, lambda own: model_name(device) in available_models(own))


def _folder(named: Path | None, shipped: bool, has_model: Callable[[Path], bool]) -> Path | None:
    own = named is None and not shipped and has_model(user_models())
    return user_models() if own else named


def cascade_called(device: str, folder: Path | None = None, *, shipped: bool = False) -> str | None:
    """Return the name of the cascade that is called like a device, in upper or lower case; None if none is.

    A cascade may be of a device that is known by nothing but the name of a column in a table of runtimes.
    """
    from coarsen.models import available_models
    from coarsen.models.model_files import model_name

    places = (folder,) if folder is not None else (None,) if shipped else (user_models(), None)
    wanted = model_name(device.strip()).casefold()
    for place in places:
        for name in available_models() if place is None else available_models(place):
            if name.casefold() == wanted:
                return name
    return None


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
    from coarsen.models import load_model
    from coarsen.models.model_files import model_name

    name = cascade_called(device, folder, shipped=shipped)
    if name is None:
        # Imported late: most cascades are called like their device.
        from coarsen.targets import target_of

        target = target_of(device)
        name = model_name(target.descriptor.name)
        _check_there(name, target, cascade_folder(name, folder, shipped=shipped))
    place = cascade_folder(name, folder, shipped=shipped)
    return load_model(name) if place is None else load_model(name, place), place


def _check_there(name: str, target: Target, folder: Path | None) -> None:
    """Raise DeviceError where there is no cascade of this name; the message lists those that there are."""
    from coarsen.models import available_models

    known = available_models() if folder is None else available_models(folder)
    if name not in known:
        where = f" in {folder}" if folder else ""
        raise DeviceError(
            f"there is no cascade of {target}{where}; cascades: {', '.join(known) or 'none'}; "
            "`coarsen train --device NAME` makes one"
        )
