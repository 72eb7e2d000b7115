"""The folder of coarsened text, and the switches that turn it off.

They follow PyOpenCL's own cache of binaries: `cache_dir` of `build`, else of the context, names a folder, False is
none; `PYOPENCL_NO_CACHE` turns both off, `COARSEN_NO_CACHE` this one alone.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

import platformdirs

FOLDER_VARIABLE = "COARSEN_CACHE_DIR"
OFF_VARIABLES = ("COARSEN_NO_CACHE", "PYOPENCL_NO_CACHE")
_NAME = "coarsened-text"
# As PyOpenCL reads its variable.
_FALSE = frozenset({"", "0", "f", "false", "n", "no", "off"})

CacheFolder = str | Literal[False] | None


def text_folder(cache_dir: CacheFolder) -> Path | None:
    """Return the folder of coarsened text; None where nothing is cached.

    Args:
        cache_dir: as `pyopencl.Program.build` takes it; None for `COARSEN_CACHE_DIR`, or the user's cache folder.
    """
    if cache_dir is False or any(os.environ.get(name, "").lower() not in _FALSE for name in OFF_VARIABLES):
        return None
    named = cache_dir or os.environ.get(FOLDER_VARIABLE)
    return _in_folder(named) if named else platformdirs.user_cache_path("coarsen") / _NAME


@lru_cache(maxsize=16)
def _in_folder(named: str) -> Path:
    return Path(named) / _NAME
