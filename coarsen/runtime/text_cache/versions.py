"""The code that makes coarsened text out of a source: this package's own, clang and LLVM."""

from __future__ import annotations

import contextlib
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
# Packages whose code, and whose models' numbers, take part in predicting.
_PREDICTING = ("coarsen.features", "coarsen.models")
_PREDICTING_FILES = (".py", ".json", ".safetensors")
# Of the models that a user may train for programs' predictions.
_OWN_CARDS = ("launch.json",)
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


def prediction_versions() -> dict[str, str] | None:
    """Return a description of all code that predicts, and of the models; None as `versions`."""
    code, own = versions(), _hash_of_prediction()
    return (
        None if code is None or own is None else {**code, "prediction": own, "own models": _hash_of_own_models()}
    )


def _hash_of_own_models() -> str:
    """Return the SHA-256 of the cards of the models that the user trained; each names the numbers of its model."""
    # Imported late: a program without predictions does without it.
    from coarsen.user_models import user_models

    total = hashlib.sha256()
    for name in _OWN_CARDS:
        card = user_models() / name
        with contextlib.suppress(OSError):
            total.update(_named(card, card.parent))
    return total.hexdigest()


@lru_cache(maxsize=1)
def _hash_of_prediction() -> str | None:
    """Return the SHA-256 of what predicts beside what coarsens: features, models with their numbers, devices."""
    folders = [PACKAGE / "devices", *(_folder_of(name) for name in _PREDICTING)]
    if None in folders:
        return None
    total = hashlib.sha256()
    for folder in folders:
        assert folder is not None
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _PREDICTING_FILES):
            total.update(_named(path, folder))
    return total.hexdigest()


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package, which is not imported; in a clone it lies elsewhere."""
    found = find_spec(package)
    places = [] if found is None else list(found.submodule_search_locations or ())
    return Path(places[0]) if places and Path(places[0]).is_dir() else None


def _named(path: Path, folder: Path) -> bytes:
    """Return the content of a file after its name and length."""
    content = path.read_bytes()
    return f"{path.relative_to(folder)} {len(content)}\n".encode() + content


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
