"""How large the buffers of a launch may be to be captured, where nobody says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# A launch is kept once as files, and at most four times in the memory of host and device each.
_PART_OF_MEMORY = 16
_PART_OF_DISK = 4


def most_captured_bytes(device_bytes: int, folder: Path) -> int:
    """Return how much the buffers of a launch may hold in all, so that copies of them crowd nothing else out.

    Args:
        device_bytes: the memory of the device.
        folder: where files of them will lie.

    Returns:
        A sixteenth of the smaller one of the device's and the host's memory, at most a quarter of what is free on
        the folder's disk, in bytes.
    """
    memory = min(device_bytes, _host_bytes() or device_bytes)
    return max(1, min(memory // _PART_OF_MEMORY, shutil.disk_usage(folder).free // _PART_OF_DISK))


def _host_bytes() -> int | None:
    """Return the host's memory in bytes; None where the system doesn't say."""
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
