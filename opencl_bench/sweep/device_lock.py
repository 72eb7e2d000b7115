"""One measurement at a time per device, also between processes: an advisory lock on a file.

All CPU devices share one lock: they are the same cores.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from coarsen.runtime.devices import DeviceDescription


@contextmanager
def device_lock(device: DeviceDescription) -> Iterator[None]:
    """Hold the device's lock; waits for it. The operating system gives it back when a process dies."""
    path = _lock_file(device)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock_file(device: DeviceDescription) -> Path:
    if "cpu" in device.device_types:
        name = "cpu"
    else:
        name = hashlib.sha256(f"{device.platform_name}\0{device.name}\0{device.index}".encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("coarsen")) / "locks" / name
