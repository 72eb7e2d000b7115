"""The package as one tree, as it is when it is installed: `features/` is `coarsen/features` there, and so on.

    pyproject.toml: [tool.setuptools.package-dir] ─▶ temporary folder of symbolic links ─▶ where griffe looks

What reads sources without importing them knows nothing of setuptools' mapping of folders to packages. With this
view the reference of Python is made of the tree that it stands in, however the package is installed.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def package_view(root: Path) -> Path:
    """A folder with the packages of the repository at `root`; it vanishes with the process."""
    return Path(_linked(root).name)


@cache
def _linked(root: Path) -> TemporaryDirectory[str]:
    view = TemporaryDirectory(prefix="packages-")
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    folders: dict[str, str] = settings["tool"]["setuptools"]["package-dir"]
    # Shorter names first: a package's own folder is made before what is linked into it.
    for package, folder in sorted(folders.items()):
        place = Path(view.name, *package.split("."))
        if "." in package:
            place.symlink_to(root / folder)
        else:
            place.mkdir()
            for entry in (root / folder).iterdir():
                (place / entry.name).symlink_to(entry)
    return view
