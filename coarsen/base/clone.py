"""Imports from a clone: three of the package's parts are its neighbours there, not its folders.

    clone       coarsen/  features/  models/  opencl_bench/
    installed   coarsen/{…, features/, models/, opencl_bench/}

A program that is run inside of the clone finds the folder `coarsen` before any package that is installed. This
finder shows Python the other three folders under the names that they have when installed. Needs the standard
library alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

PARTS = ("features", "models", "opencl_bench")


class CloneFinder(MetaPathFinder):
    """Find the parts of a package beside its own folder.

    Args:
        package: the package's name.
        root: the folder in which the package and its parts are.
    """

    def __init__(self, package: str, root: Path) -> None:
        self._folders = {f"{package}.{part}": root / part for part in PARTS}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a part; None for any other module."""
        folder = self._folders.get(fullname)
        if folder is None:
            return None
        return spec_from_file_location(fullname, folder / "__init__.py", submodule_search_locations=[str(folder)])


def find_parts(package: str, folder: Path) -> None:
    """Let the parts be imported where the package's folder is that of a clone; an installed one is left as it is.

    Args:
        package: the package's name.
        folder: the package's folder.
    """
    root = folder.parent
    is_clone = (root / "pyproject.toml").is_file() and not (folder / PARTS[0]).exists()
    if is_clone and all((root / part / "__init__.py").is_file() for part in PARTS):
        sys.meta_path.append(CloneFinder(package, root))
