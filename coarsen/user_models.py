"""Where a model comes from: a folder that is named, the user's own models, or those of the package.

a folder is named     ─▶ that
the user trained one  ─▶ the user's folder, where `coarsen train` puts it
else                  ─▶ the package (None)
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

from coarsen.models.best_factors import DEVICES as PUBLISHED_DEVICES
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor, known_descriptor
from coarsen.models.launch.files import has_launch
from coarsen.models.model_files import DEFAULT, model_name, model_names


def user_models() -> Path:
    """Return the folder in which `coarsen train` stores models."""
    return platformdirs.user_data_path("coarsen") / "models"


def default_folder(folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of the default model; None for the package's.

    Args:
        folder: one that is named.
        shipped: whether the user's own model is passed over.
    """
    if folder is not None or shipped:
        return folder
    # Imported late: who asks another model does without it.
    from coarsen.models.default.storage import has_default

    return user_models() if has_default(user_models()) else None


def answers_by_launch_model(device: str, folder: Path | None = None, *, shipped: bool = False) -> bool:
    """Return True if the launch model answers where nobody asks for a model.

    A model that the user trained goes before the package's, also a default model before the launch model. For GPUs
    of which nothing but best factors was published the default model answers, which learned from these.

    Args:
        device: what the user calls it; it need not be known.
        folder: where models are; None for the user's own and the package's.
        shipped: whether the user's own models are passed over.
    """
    if folder is not None:
        return has_launch(folder)
    if not shipped and has_launch(user_models()):
        return True
    if not shipped and DEFAULT in model_names(user_models()):
        return False
    return has_launch() and not _is_published_only(device)


def _is_published_only(device: str) -> bool:
    known = _descriptor(device)
    return known is not None and known.name in PUBLISHED_DEVICES


def _descriptor(device: str) -> DeviceDescriptor | None:
    """Return what is known of a device that is called so; None where nothing is."""
    return DEVICE_DESCRIPTORS.get(device.strip().casefold()) or known_descriptor(device.strip())


def answers_by_cascade(device: str, folder: Path | None = None, *, shipped: bool = False) -> bool:
    """Return True if a device's cascade answers where nobody asks for a model.

    That is so for the GPUs of the publication, and for a device of which nothing is known but the cascade that a
    user trained.

    Args:
        device: what the user calls it; it need not be known.
        folder: where models are; None for the user's own and the package's.
        shipped: whether the user's own models are passed over.
    """
    known = _descriptor(device)
    if known is not None and known.name not in PUBLISHED_DEVICES:
        return False
    return cascade_called(device if known is None else known.name, folder, shipped=shipped) is not None


def launch_model_folder(folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of the launch model; None for the package's. Arguments as for `default_folder`."""
    if folder is not None or shipped:
        return folder
    return user_models() if has_launch(user_models()) else None


def cascade_folder(device: str, folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of a device's cascade; None for the package's. Arguments as for `default_folder`."""
    if folder is not None or shipped:
        return folder
    from coarsen.models import available_models

    return user_models() if model_name(device) in available_models(user_models()) else None


def cascade_called(device: str, folder: Path | None = None, *, shipped: bool = False) -> str | None:
    """Return the name of the cascade that is called like a device, in upper or lower case; None if none is.

    A cascade may be of a device that is known by nothing but the name of a column in a table of runtimes.
    """
    from coarsen.models import available_models

    places = (folder,) if folder is not None else (None,) if shipped else (user_models(), None)
    wanted = model_name(device.strip()).casefold()
    for place in places:
        for name in available_models() if place is None else available_models(place):
            if name.casefold() == wanted:
                return name
    return None
