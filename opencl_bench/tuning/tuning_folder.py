"""Temporary folders of tunings: each is removed with its tuning, or by a later one if its process was killed.

A folder holds a locked file as long as its process lives. The operating system gives a lock back when a process
dies, so what can be locked is abandoned; a folder without that file is being made, or somebody else's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "coarsen-tuning-"
LOCK = "lock"


@contextmanager
def tuning_folder() -> Iterator[Path]:
    """Make a folder that is removed afterwards; remove those of killed processes before.

    Raises OSError where none can be made.
    """
    remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        made = folder / "new"
        with made.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # It is locked from the moment when others see it.
            made.rename(folder / LOCK)
            yield folder


def remove_abandoned() -> None:
    """Remove the folders of this user's tunings whose processes have gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    """Raise OSError where a folder is in use, or no tuning's."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(descriptor)
