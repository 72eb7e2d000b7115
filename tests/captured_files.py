"""Captured launches, and files of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyopencl

from coarsen.base.files import replace_file_by
from coarsen.runtime.advice import LaunchRequest
from coarsen.runtime.launch import OriginalLaunch
from coarsen.tuning.recording import captured_launch
from coarsen.tuning.workload.captured_launch import CapturedLaunch, write_launch
from coarsen.variant.transforms import DEFAULT


def captured_of(
    source: str,
    kernel: str,
    queue: pyopencl.CommandQueue,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[Any],
    global_offset: tuple[int, ...] | None = None,
    most_bytes: int | None = None,
) -> CapturedLaunch:
    """Capture a launch of a program without build options."""
    launch = OriginalLaunch(queue.device, global_size, local_size)
    given = tuple(arguments)
    request = LaunchRequest(source, (), kernel, launch, DEFAULT, queue, given, global_offset)
    return captured_launch(request, most_bytes)


def written_capture(launch: CapturedLaunch, folder: Path, name: str) -> Path:
    """Write a launch as one that is recorded; returns the file."""
    path = folder / f"{name}.npz"
    folder.mkdir(parents=True, exist_ok=True)
    replace_file_by(partial(write_launch, launch, name=name), path)
    return path
