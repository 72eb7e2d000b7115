"""Where a store is meant to be, without loading SQLAlchemy, which takes longer than a program's whole start."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote

import platformdirs

STORE_VARIABLE = "COARSEN_STORE"
SQLITE = "sqlite"
SQLITE_START = f"{SQLITE}:///"


def chosen_store(text: str | None) -> str:
    """Return the URL or path that is meant: as given, or what `COARSEN_STORE` says, or the user's own file."""
    return text or os.environ.get(STORE_VARIABLE) or str(default_file())


def default_file() -> Path:
    """Return the store in the user's data folder; neither need be there."""
    return platformdirs.user_data_path("coarsen") / "measurements.sqlite"


def sqlite_file(chosen: str) -> Path | None:
    """Return the SQLite file that a URL or path names, whether it is there or not; None where it names none.

    Args:
        chosen: from `chosen_store`. What is malformed names none: `store_url` says what is wrong with it.
    """
    if "://" in chosen and not chosen.startswith(SQLITE_START):
        return None
    path = unquote(chosen.removeprefix(SQLITE_START)) if chosen.startswith(SQLITE_START) else chosen
    if not path or "\0" in path or (chosen.startswith(SQLITE_START) and ("?" in chosen or path == ":memory:")):
        return None
    try:
        file = Path(path).expanduser().absolute()
        return None if file.is_dir() else file
    except (OSError, RuntimeError, ValueError):  # a name that is too long, an unknown user's home
        return None


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
