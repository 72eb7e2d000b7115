"""Where a store is meant to be, without loading SQLAlchemy, which takes longer than a program's whole start."""

from __future__ import annotations

import json
import os
from pathlib import Path

import platformdirs

from coarsen.errors import InvalidInputError

STORE_VARIABLE = "COARSEN_STORE"


def default_file() -> Path:
    """Return the store in the user's data folder; neither need be there."""
    return platformdirs.user_data_path("coarsen") / "measurements.sqlite"


def store_file(text: str | None = None) -> Path:
    """Return the SQLite file that a store is; neither it nor its folder need be there.

    Args:
        text: its path; None: what `COARSEN_STORE` says, or else the file in the user's data folder.

    Raises:
        InvalidInputError: no file can be called so; it is a folder, or a URL.
    """
    chosen = text or os.environ.get(STORE_VARIABLE) or str(default_file())
    # Bytes of another encoding come as halves of surrogate pairs.
    if any("\ud800" <= letter <= "\udfff" for letter in chosen):
        raise InvalidInputError(f"the store {chosen[:60]!a} has a name that is no text in UTF-8")
    scheme, separator, _ = chosen.partition("://")
    if separator:
        # What comes after it may hold a password.
        raise InvalidInputError(f"the store is an SQLite file: give its path, not a URL ({scheme[:20]}://…)")
    if "\0" in chosen:
        raise InvalidInputError(f"no file can be called {chosen!a}")
    try:
        file = Path(chosen).expanduser().absolute()
        is_folder = file.is_dir()
    except (OSError, RuntimeError) as error:  # a name that is too long, an unknown user's home
        raise InvalidInputError(f"the store can't be at {chosen!a}: {error}") from error
    if is_folder:
        raise InvalidInputError(f"the store must be a file, and {file} is a folder")
    return file


def can_be_written(file: Path) -> bool:
    """Return True if an SQLite file can be written to: SQLite makes files beside the database, even to read it."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def json_value(text: str | bytes) -> object:
    """Return what JSON text means, or else the text itself, which no column's reader takes for a value."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
