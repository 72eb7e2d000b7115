"""The sweeps that come with the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def shipped_files() -> Mapping[str, Path]:
    """The files of the sweeps by their names, in alphabetical order."""
    # Found from the package, since the folder may be installed elsewhere than this file.
    import coarsen.opencl_bench as opencl_bench

    return {path.stem: path for path in sorted((Path(opencl_bench.__path__[0]) / "data").glob("*.parquet"))}
