"""Executing a notebook as on a fresh machine: a home, caches and a working folder of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import matplotlib
import papermill
from traitlets.config import Config

from tests.notebooks.files import Notebook

# Longer than the longest cell of any notebook takes in full, in seconds.
_CELL_SECONDS = 3600
# Ports that are free when a kernel looks for some may be another's when it takes them; files are its own.
_CONFIG = Config({"KernelManager": {"transport": "ipc"}})
# Written by Python's and Jupyter's own machinery, not by the notebook.
_CACHES = frozenset({".cache", ".ipython", ".jupyter", ".local"})


class LeftBehindError(AssertionError):
    """A notebook has written files that are still there when it is done."""


def execute(path: Path, folder: Path, parameters: Mapping[str, object]) -> Notebook:
    """Execute a notebook from top to bottom with this environment's Python, and check that it leaves nothing.

    Args:
        path: of the notebook, which stays as it is.
        folder: an empty one, for all that is written.
        parameters: written into a cell behind the one that is tagged so.

    Returns:
        The notebook with outputs, and the cell of the parameters if there were any.

    Raises:
        PapermillExecutionError: a cell failed.
        LeftBehindError: a file is left in the working folder or the home.
    """
    places = {name: folder / name for name in ("home", "temporary", "work")}
    for place in places.values():
        place.mkdir()
    # Sockets' paths must be short, which those of a test's folders aren't.
    with tempfile.TemporaryDirectory() as sockets, mock.patch.dict(os.environ, _environment(places, sockets)):
        notebook = papermill.execute_notebook(
            str(path),
            None,
            parameters=dict(parameters),
            kernel_name="python3",
            language="python",
            cwd=str(places["work"]),
            progress_bar=False,
            execution_timeout=_CELL_SECONDS,
            config=_CONFIG,
        )
    left = [entry.name for entry in places["work"].iterdir()]
    left += [entry.name for entry in places["home"].iterdir() if entry.name not in _CACHES]
    left += [entry.name for entry in places["temporary"].iterdir() if entry.name.startswith("coarsen")]
    if left:
        raise LeftBehindError(f"{path.name} leaves behind: {', '.join(sorted(left))}")
    return notebook


def _environment(places: Mapping[str, Path], sockets: str) -> dict[str, str]:
    home = places["home"]
    return {
        "HOME": str(home),
        "TMPDIR": str(places["temporary"]),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_RUNTIME_DIR": sockets,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        # What a virtual environment that is active does: the commands of its packages are found.
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))),
        # To look for all fonts of the machine takes longer than a quick notebook.
        "MPLCONFIGDIR": matplotlib.get_cachedir() or "",
    }
