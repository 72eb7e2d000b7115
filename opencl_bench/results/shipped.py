"""The sweeps that come with the package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path


def shipped_files() -> Mapping[str, Path]:
    """Return the files of the sweeps by their names, in alphabetical order."""
    # Found from the package: the folder may be installed elsewhere than this file.
    data = Path(str(resources.files("coarsen.opencl_bench"))) / "data"
    return {path.stem: path for path in sorted(data.glob("*.parquet"))}
