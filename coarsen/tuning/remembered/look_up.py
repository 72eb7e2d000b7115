"""Looks for a remembered choice quickly, and changes nothing by looking: no store is made.

An SQLite file is read without SQLAlchemy, whose loading takes longer than the rest of a program's start.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coarsen.errors import InvalidInputError, one_line
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey
from coarsen.tuning.remembered.choice_json import choice_in_row
from coarsen.tuning.store.place import can_be_written, json_value, store_file

PATIENCE = 5  # seconds to wait for another process that has locked an SQLite file
JSON_COLUMNS = ("variant", "speedup", "speedup_over_uncoarsened", "global_size", "local_size", "versions")
COLUMNS = (
    "key",
    *(field.name for field in fields(RememberedKey)),
    *(field.name for field in fields(RememberedChoice) if field.name != "key"),
)
_HAS_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'remembered'"
_ANY = "SELECT 1 FROM remembered LIMIT 1"
_ANY_OF_KERNEL = "SELECT 1 FROM remembered WHERE kernel = ? LIMIT 1"


def remembered_choice(store: str | None, key: RememberedKey) -> RememberedChoice | None:
    """Return what is remembered under a key; None if nothing is, or there is no store.

    Whether the choice still holds, `problem_of` says.

    Args:
        store: the path of an SQLite file; None: what `COARSEN_STORE` says, or else the user's own store.
        key: of the choice.

    Raises:
        InvalidInputError: the store can't be read, or the choice in it is damaged.
    """
    return next(iter(_choices(store, "key", key.digest)), None)


def remembered_choices(store: str | None, kernel: str) -> list[RememberedChoice]:
    """Return all that is remembered of kernels of a name; nothing where there is no store.

    Args:
        store: as for `remembered_choice`.
        kernel: its name.

    Raises:
        InvalidInputError: the store can't be read, or a choice in it is damaged.
    """
    return _choices(store, "kernel", kernel)


def anything_remembered(store: str | None, kernel: str | None = None) -> bool:
    """Return True if any choice is remembered; where there is none, no key need be computed.

    Args:
        store: as for `remembered_choice`.
        kernel: only choices for kernels of this name; None: for any.

    Raises:
        InvalidInputError: the store can't be read.
    """
    file = store_file(store)
    return bool(_rows(file, _ANY) if kernel is None else _rows(file, _ANY_OF_KERNEL, (kernel,)))


def _choices(store: str | None, column: str, value: str) -> list[RememberedChoice]:
    """The choices of a key, or of a kernel's name."""
    file = store_file(store)
    query = f"SELECT {', '.join(COLUMNS)} FROM remembered WHERE {column} = ?"
    return [_choice(row, file) for row in _rows(file, query, (value,))]


def _rows(file: Path, query: str, values: Sequence[str] = ()) -> list[sqlite3.Row]:
    """The rows that a query finds in an SQLite file; none where there is no file, or no such table in it."""
    with _errors_of(file):
        if not file.is_file():
            return []
        with closing(_connection(file)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA query_only = ON")
            has_table = connection.execute(_HAS_TABLE).fetchone()
            return connection.execute(query, values).fetchall() if has_table else []


@contextmanager
def _errors_of(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise InvalidInputError(f"the store {file}: {one_line(str(error))}") from error


def _connection(file: Path) -> sqlite3.Connection:
    # Not read-only where the file can be written to: such a connection leaves files beside the database.
    how = "mode=rw" if can_be_written(file) else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(file))}?{how}", uri=True, timeout=PATIENCE)


def _choice(row: sqlite3.Row, file: Path) -> RememberedChoice:
    values: dict[str, Any] = {
        name: json_value(row[name]) if name in JSON_COLUMNS and isinstance(row[name], str | bytes) else row[name]
        for name in COLUMNS
    }
    try:
        return choice_in_row(values)
    except InvalidInputError as error:
        raise InvalidInputError(f"the store {file}: {error}") from None
