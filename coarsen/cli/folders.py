"""Folders named on the command line: those to read from, and those to write into."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coarsen.errors import InvalidInputError


def existing_folder(option: str, folder: Path | None) -> Path | None:
    """Return a folder to read from, None where the option isn't given.

    Raises InvalidInputError where there is none.
    """
    if folder is not None and not folder.is_dir():
        raise InvalidInputError(f"{option} {folder}: there is no such folder")
    return folder


@contextmanager
def prepared_folder(folder: Path | None) -> Iterator[None]:
    """Make the folder for the results of long work before it begins, since a failure at its end would lose them.

    A folder made here is removed again if it is still empty at the end. Does nothing without a folder.

    Raises:
        InvalidInputError: it can't be made, or not written into.
    """
    made = _made(folder) if folder is not None else ()
    try:
        yield
    finally:
        for each in made:
            with contextlib.suppress(OSError):  # it isn't empty
                each.rmdir()


def _made(folder: Path) -> tuple[Path, ...]:
    """Make a folder; those that were made, from the innermost on."""
    missing = tuple(each for each in (folder, *folder.parents) if not each.exists())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: no folder can be made there: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{folder}: can't be written: {os.strerror(errno.EACCES)}")
    return missing
