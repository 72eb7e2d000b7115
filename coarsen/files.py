"""Files written in one step: whoever looks finds the old content or the whole new one, whatever happens."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from coarsen.errors import InvalidInputError


def replace_file(data: bytes, path: Path) -> None:
    """Write a file, in place of one that may be there.

    A link's target is replaced, not the link; a device or a pipe is written to.

    Raises:
        InvalidInputError: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(data)  # there is nothing to replace
        else:
            _replace(data, target)
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be written: {error.strerror}") from None


def _replace(data: bytes, target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(21, "it is a folder")
    unfinished = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power failure could leave the name with nothing in it
        if target.exists():
            unfinished.chmod(target.stat().st_mode)
        unfinished.replace(target)
        _sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Have the folder's entries on the disk. Not all file systems can; the file itself is there by now."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_file(path: Path) -> bytes:
    """What is in a file. Raises InvalidInputError where it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be read: {error.strerror}") from None
