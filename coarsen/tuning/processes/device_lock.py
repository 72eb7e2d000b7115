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
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription

_log = logging.getLogger("coarsen")

FOLDER_VARIABLE = "COARSEN_LOCK_FOLDER"
SILENT_SECONDS = 1.0
_PAUSE = 0.02  # seconds
_LONGEST_NUMBER = 20  # digits


@contextmanager
def device_lock(device: DeviceDescription, seconds: float | None = None) -> Iterator[str]:
    """Hold the lock of a device.

    The operating system gives it back when a process dies.

    Args:
        device: any.
        seconds: how long it is waited for; None for as long as it takes.

    Yields:
        Who else holds it still after these seconds; nothing where it is had.
    """
    file = _opened(_file_name(device))
    if file is None:
        yield ""
        return
    with file:
        if not _is_had_within(file, SILENT_SECONDS if seconds is None else seconds):
            holder = _holder(file)
            if seconds is not None:
                yield holder
                return
            _log.warning("%s measures on this device; waiting until it has ended", holder)
            fcntl.flock(file, fcntl.LOCK_EX)
        _sign(file)
        yield ""


def _file_name(device: DeviceDescription) -> str:
    if "cpu" in device.device_types:
        return "cpu"
    names = device.platform_name, device.name, device.index
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:16]


def _sign(file: IO[bytes]) -> None:
    """Write who holds the lock."""
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()).encode())
    file.flush()


def _holder(file: IO[bytes]) -> str:
    """Return who holds a lock, as far as it has signed."""
    signed = file.read(_LONGEST_NUMBER)
    if not signed.isdigit():
        return "another process"
    return "another thread of this program" if int(signed) == os.getpid() else f"process {signed.decode()}"


def _is_had_within(file: IO[bytes], seconds: float) -> bool:
    """Try to get the lock, once at least and for some seconds; return whether that worked."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def _opened(name: str) -> IO[bytes] | None:
    """The lock's file, in the first folder that can be written to; None where there is none."""
    problem: OSError | None = None
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return os.fdopen(_open_file(folder / name), "r+b")
        except OSError as error:
            problem = error
    _log.warning("no lock keeps other sweeps from this device meanwhile: %s", problem)
    return None


def _open_file(path: Path) -> int:
    """Open or make a file, and nothing else: a link that somebody left there would have another file changed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no file")
    return descriptor


def _folders() -> Iterator[Path]:
    if os.environ.get(FOLDER_VARIABLE):
        yield Path(os.environ[FOLDER_VARIABLE])
        return
    yield Path(platformdirs.user_cache_dir("coarsen")) / "locks"
    try:
        yield Path(tempfile.gettempdir()) / f"coarsen-{os.getuid()}" / "locks"
    except FileNotFoundError:  # not even there can files be made
        return
