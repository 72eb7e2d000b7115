"""Where a model comes from: a folder that is named, the user's own models, or those of the package.

a folder is named     ─▶ that
the user trained one  ─▶ the user's folder, where `coarsen train` puts it
else                  ─▶ the package (None)
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

from coarsen.models.launch.files import has_launch
from coarsen.models.model_files import model_name


def user_models() -> Path:
    """The folder in which `coarsen train` stores models."""
    return platformdirs.user_data_path("coarsen") / "models"


def default_folder(folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """The folder of the default model; None for the package's.

    Args:
        folder: one that is named.
        shipped: whether the user's own model is passed over.
    """
    if folder is not None or shipped:
        return folder
    # Imported late: who asks another model does without it.
    from coarsen.models.default import has_default

    return user_models() if has_default(user_models()) else None


def has_launch_model(folder: Path | None = None, *, shipped: bool = False) -> bool:
    """Return True if a launch model is there: in a folder, among the user's own, or in the package."""
    if folder is not None:
        return has_launch(folder)
    return has_launch() or (not shipped and has_launch(user_models()))


def launch_model_folder(folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """Return the folder of the launch model; None for the package's. Arguments as for `default_folder`."""
    if folder is not None or shipped:
        return folder
    return user_models() if has_launch(user_models()) else None


def cascade_folder(device: str, folder: Path | None = None, *, shipped: bool = False) -> Path | None:
    """The folder of a device's cascade; None for the package's. Arguments as for `default_folder`."""
    if folder is not None or shipped:
        return folder
    from coarsen.models import available_models

    return user_models() if model_name(device) in available_models(user_models()) else None


def cascade_called(device: str, folder: Path | None = None, *, shipped: bool = False) -> str | None:
    """The name of the cascade that is called like a device, in upper or lower case; None if none is.

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
