"""Names: the hint ` (did you mean sgemm?)` for unknown ones, and those that a package loads when they are used."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

# Of difflib's measure of likeness, 0 to 1: one wrong letter of three is still found.
_LIKENESS = 0.6
_HINTS = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names what is spelled almost so, upper and lower case alike; empty where nothing is.

    Args:
        name: what was given.
        known: the names that there are.
    """
    near = similar_names(name, known)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that are spelled almost so, upper and lower case alike, the nearest first.

    Args:
        name: what was given.
        known: the names that there are.
    """
    # Imported late: it takes longer to load than most programs need it.
    import difflib

    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.strip().casefold(), list(by_folded), _HINTS, _LIKENESS)
    return [by_folded[each] for each in near]


# Names that are loaded only when they are first used (PEP 562).
#
#     __getattr__, __dir__ = lazy_names(__name__, {"Program": "coarsen.drop_in.program"})
#
# Whoever imports the package then pays for nothing that they do not use. A machine that only runs packs has the
# package without what it depends on, so this needs the standard library alone.


def lazy_names(package: str, module_of: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        module_of: for each name that it offers the module that defines it, or that it is.
    """

    def load(name: str) -> Any:  # noqa: ANN401 (each name has its own type)
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        is_collecting = gc.isenabled()
        # To look for garbage among what PyOpenCL and NumPy have made takes a fifth of the time, and there is none.
        gc.disable()
        try:
            value: Any = importlib.import_module(module_of[name])
        finally:
            if is_collecting:
                gc.enable()
        if module_of[name] != f"{package}.{name}":
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, names


# In a clone, three of the package's parts are its neighbours, not its folders:
#
#     clone       coarsen/  features/  models/  opencl_bench/
#     installed   coarsen/{…, features/, models/, opencl_bench/}

PARTS = ("features", "models", "opencl_bench")


def folders_of_parts(package: Path) -> list[str]:
    """Return the folder of a clone, in which Python is to look for a package's parts; none for installed ones.

    Args:
        package: the package's own folder.
    """
    root = package.parent
    is_clone = (root / "pyproject.toml").is_file() and not (package / PARTS[0]).exists()
    return [str(root)] if is_clone and all((root / part / "__init__.py").is_file() for part in PARTS) else []
