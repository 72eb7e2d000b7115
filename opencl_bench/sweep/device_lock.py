"""One measurement at a time per device, also between processes: an advisory lock on a file.

All CPU devices share one lock: they are the same cores. `COARSEN_LOCK_FOLDER` names the folder of the locks, for
users or containers that share a machine; it is in the user's cache folder otherwise. Where no folder can be
written to, there is no lock: two sweeps at the same time would disturb each other, none would be as bad.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription

_log = logging.getLogger("coarsen")

FOLDER_VARIABLE = "COARSEN_LOCK_FOLDER"


@contextmanager
def device_lock(device: DeviceDescription) -> Iterator[None]:
    """Hold the device's lock; waits for it. The operating system gives it back when a process dies."""
    with named_lock("cpu" if "cpu" in device.device_types else device.platform_name, device.name, device.index):
        yield


@contextmanager
def named_lock(*names: str) -> Iterator[None]:
    """Hold the lock of a device that is called so; of those whose first name is `cpu` there is one."""
    name = "cpu" if names[0] == "cpu" else hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]
    file = _opened(name)
    if file is None:
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _opened(name: str) -> IO[str] | None:
    """The lock's file, in the first folder that can be written to; None where there is none."""
    problem: OSError | None = None
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return (folder / name).open("a")
        except OSError as error:
            problem = error
    _log.warning("no lock keeps other sweeps from this device meanwhile: %s", problem)
    return None


def _folders() -> Iterator[Path]:
    if os.environ.get(FOLDER_VARIABLE):
        yield Path(os.environ[FOLDER_VARIABLE])
        return
    try:
        # It comes with PyOpenCL, which a machine without OpenCL doesn't have.
        import platformdirs
    except ImportError:
        pass
    else:
        yield Path(platformdirs.user_cache_dir("coarsen")) / "locks"
    try:
        yield Path(tempfile.gettempdir()) / f"coarsen-{os.getuid()}" / "locks"
    except FileNotFoundError:  # not even there can files be made
        return
