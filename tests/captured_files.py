"""Files of captured launches."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from coarsen.base.files import replace_file_by
from coarsen.tuning.workload.captured_launch import CapturedLaunch, write_launch


def written_capture(launch: CapturedLaunch, folder: Path, name: str) -> Path:
    """Write a launch as one that is recorded; returns the file."""
    path = folder / f"{name}.npz"
    folder.mkdir(parents=True, exist_ok=True)
    replace_file_by(partial(write_launch, launch, name=name), path)
    return path
