"""The code that makes coarsened text out of a source: this package's own, clang and LLVM."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from coarsen.base.version import __version__
from coarsen.frontend.clang import packaged_clang

PACKAGE = Path(__file__).parents[2]
# The folders whose code takes part in coarsening, besides the package's own modules.
FOLDERS = ("analysis", "backend", "base", "cost", "frontend", "ir", "remarks", "transform", "variant")
_PACKAGES = ("llvmlite", "networkx", "ziglang")
# Modules, and the headers that clang reads.
_COARSENING_FILES = (".py", ".h")
# Variables by which clang reads other files, or takes other options.
_CLANG_VARIABLES = ("CCC_OVERRIDE_OPTIONS", "CPATH", "C_INCLUDE_PATH", "ZIG_LIB_DIR")


def versions() -> dict[str, str] | None:
    """Return a description of all code that takes part; neither clang is started nor LLVM loaded for it.

    None where it can't be told without starting clang: one that `COARSEN_CLANG` names, or that was found on PATH.
    """
    if os.environ.get("COARSEN_CLANG"):
        return None
    installed = _installed()
    if installed is None:
        return None
    return installed | {name: os.environ.get(name, "") for name in _CLANG_VARIABLES}


@lru_cache(maxsize=1)
def _installed() -> dict[str, str] | None:
    """Return what tells this code from all other; once for each process, which doesn't load code twice either."""
    clang = packaged_clang()
    own = _stamp_of_code()
    if clang is None or own is None:
        return None
    try:
        # What was exchanged by hand has another size or time.
        others = {name: _stamp(_file_of(name)) for name in _PACKAGES}
        return {**others, "clang": _stamp(Path(clang.command[0])), "coarsen": __version__, "code": own}
    except OSError:  # one is not installed, or not as files
        return None


def _file_of(package: str) -> Path:
    """Return the first file of a package, which is not imported. Raises FileNotFoundError where there is none."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise FileNotFoundError(package)
    return Path(found.origin)


def _stamp(path: Path) -> str:
    """Return the name, size and time of a file, which are read faster than its content."""
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _stamp_of_code() -> str | None:
    """Return the SHA-256 of the stamps of what takes part; None where modules and headers are no files.

    A version alone doesn't tell: in a clone the code changes and the version stays.
    """
    try:
        own = [_stamp(path) for path in PACKAGE.iterdir() if path.suffix == ".py"]
        stamps = [*own, *(stamp for name in FOLDERS for stamp in _stamps(str(PACKAGE / name)))]
    except OSError:
        return None
    return hashlib.sha256("\n".join(sorted(stamps)).encode()).hexdigest()


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_COARSENING_FILES):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _stamps(entry.path)
