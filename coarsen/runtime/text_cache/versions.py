"""The code that makes coarsened text out of a source: this package's own, clang and LLVM."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from coarsen.distribution import __version__
from coarsen.frontend.clang import packaged_clang

PACKAGE = Path(__file__).parents[2]
# The folders whose code takes part in coarsening, besides the package's own modules.
FOLDERS = ("analysis", "backend", "frontend", "ir", "transform", "variant")
_DISTRIBUTIONS = ("llvmlite", "networkx", "pocl-binary-distribution", "ziglang")
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
    """The versions of what is installed; once for each process, which doesn't load code twice either."""
    clang = packaged_clang()
    own = _hash_of_code()
    if clang is None or own is None:
        return None
    try:
        installed = {name: version(name) for name in _DISTRIBUTIONS}
        status = Path(clang.command[0]).stat()
    except (PackageNotFoundError, OSError):
        return None
    # A clang that was exchanged by hand has another size or time.
    file = f"{clang.command[0]} {status.st_size} {status.st_mtime_ns}"
    return {**installed, "clang": file, "coarsen": __version__, "code": own}


def _hash_of_code() -> str | None:
    """The SHA-256 of the modules that take part; None where they are no files.

    A version alone doesn't tell: in a clone the code changes and the version stays.
    """
    paths = [*PACKAGE.glob("*.py")]
    for folder in FOLDERS:
        paths += (PACKAGE / folder).rglob("*.py")
    if len(paths) <= len(FOLDERS):
        return None
    total = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        total.update(f"{path.relative_to(PACKAGE)} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()
