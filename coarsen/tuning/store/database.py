"""The store of measurements: a database that any number of processes write to, and that loses nothing.

    with open_store("results.sqlite") as store:
        store.add(measurement)
        for measurement in store.measurements(Filter(benchmark="sgemm")):
            …

Every call is a transaction of its own: what `add` has returned for is there, whatever happens to the process then.
A store must be opened in the process that uses it; threads may share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, bindparam, func, select

from coarsen.base.files import opened
from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.store.connection import Guard, engine_of, file_in_folder, guard_of, prepare, writing
from coarsen.tuning.store.remembered import RememberedTable
from coarsen.tuning.store.schema import (
    Filter,
    all_columns,
    insert_new,
    insert_or_replace,
    measurement_of,
    rows_of,
    selection,
)
from coarsen.tuning.store.schema import measurement as table

EVERYTHING = Filter()

# Rows that are read, or written in one transaction, at a time.
BATCH = 500
SQLITE_HEADER = b"SQLite format 3\0"
# Made once: to put the joins of a query together takes longer than to run it.
_KEY = "wanted_key"
_OF_KEY = selection(EVERYTHING, *all_columns()).where(table.c.key == bindparam(_KEY))


def open_store(path: str | None = None) -> Store:
    """Open a store; it is created if need be.

    A file that can't be written to is opened for reading alone.

    Args:
        path: of an SQLite file. None: what the environment variable `COARSEN_STORE` says, or else a file in the
            user's data folder.

    Raises:
        InvalidInputError: the file can't be opened or written to, is no store, or is one of another version of the
            schema. The message is one line.
    """
    file = file_in_folder(path)
    _check_header(file)
    engine, guard = engine_of(file), guard_of(file)
    try:
        with guard():
            prepare(engine)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, guard, str(file))


def open_existing_store(path: str | None = None) -> Store:
    """Open a store that is there: to look at one must not make it.

    Args and errors as for `open_store`; also raises InvalidInputError where there is no such file, or it is empty.
    """
    _check_is_there(file_in_folder(path))
    return open_store(path)


def _check_is_there(file: Path) -> None:
    """Raise InvalidInputError unless there is a file with something in it: an empty one would be made a store."""
    if not file.exists():
        raise InvalidInputError(f"there is no store at {file}; 'coarsen tune' or 'coarsen bench' makes one")
    if file.is_file() and not file.stat().st_size:
        raise InvalidInputError(f"there is no store at {file}: the file is empty")


def _check_header(file: Path) -> None:
    """Raise InvalidInputError for a file that is neither empty nor a database: SQLite overwrites short ones."""
    try:
        with opened(file) as content:
            start = content.read(len(SQLITE_HEADER))
    except OSError:  # there is none, or SQLite says why it can't be opened
        return
    if start and start != SQLITE_HEADER:
        raise InvalidInputError(f"the store {file}: file is not a database")


class Store:
    """An open store, made by `open_store`. As a context manager it is closed at the end.

    All methods raise InvalidInputError, with one line, when the database fails or a row of it is damaged.

    Attributes:
        location: the path of its file.
    """

    def __init__(self, engine: Engine, guard: Guard, location: str) -> None:
        self._engine = engine
        self._guard = guard
        self.location = location

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.location!r})"

    @property
    def remembered(self) -> RememberedTable:
        """Return the table of remembered choices."""
        return RememberedTable(self._engine, self._guard)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def add(self, measurement: Measurement) -> bool:
        """Store a measurement unless there is one of its key. False: there was, and it is left as it is."""
        return self.add_all([measurement]) == 1

    def add_all(self, measurements: Iterable[Measurement]) -> int:
        """Store several measurements, some hundreds in each transaction; how many weren't there."""
        rows = map(rows_of, measurements)
        added = 0
        while batch := list(islice(rows, BATCH)):
            with self._guard(), writing(self._engine).begin() as connection:
                added += insert_new(connection, batch)
        return added

    def replace(self, measurement: Measurement) -> None:
        """Store a measurement in the place of the one of its key, if there is one."""
        rows = rows_of(measurement)
        with self._guard(), writing(self._engine).begin() as connection:
            insert_or_replace(connection, rows)

    def find(self, key: str) -> Measurement | None:
        """Return the measurement of a key; None if there is none."""
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(_OF_KEY, {_KEY: key}).one_or_none()
            return measurement_of(row) if row else None

    def measurements(self, chosen: Filter = EVERYTHING) -> Iterator[Measurement]:
        """Yield the measurements that a filter lets through, as they are now, by their start and key."""
        query = selection(chosen, *all_columns()).order_by(table.c.started_at, table.c.key)
        with self._guard(), self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=BATCH).execute(query):
                yield measurement_of(row)

    def count(self, chosen: Filter = EVERYTHING) -> int:
        """Return how many measurements a filter lets through."""
        query = selection(chosen, table.c.key).subquery()
        with self._guard(), self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(query)).scalar_one()
