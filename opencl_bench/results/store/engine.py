"""Connections to the database of a store, and its errors as one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import one_line
from coarsen.opencl_bench.results.store.location import secrets, shown
from coarsen.opencl_bench.results.store.place import SQLITE, can_be_written, json_value

PATIENCE = 60  # seconds to wait for another process that writes to an SQLite file
CONNECT_TIMEOUT = 10  # seconds

WRITING, READ_ONLY = "coarsen_writing", "coarsen_read_only"

Guard = Callable[[], AbstractContextManager[None]]


def engine_of(url: URL) -> Engine:
    """Return an engine for the database; connects to nothing yet.

    An SQLite file that can't be written to is only read.

    Raises:
        InvalidInputError: PostgreSQL's client library is missing; an SQLite file can't be written to, and has
            changes beside it that nobody could take over.
    """
    if url.drivername == SQLITE:
        engine = _reader(Path(str(url.database))) if is_read_only(url) else _sqlite_engine(url)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    arguments = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_TIMEOUT}
    try:
        return create_engine(url, connect_args=arguments, pool_pre_ping=True, json_deserializer=json_value)
    except ImportError as error:
        raise InvalidInputError(
            "a store in PostgreSQL needs psycopg: pip install 'coarsen[postgresql]'"
        ) from error


def is_read_only(url: URL) -> bool:
    """Return True if a store is an SQLite file that is there and can't be written to, or lies in such a folder.

    SQLite makes files beside the database, even to read it.
    """
    if url.drivername != SQLITE:
        return False
    file = Path(str(url.database))
    return file.is_file() and not can_be_written(file)


def _sqlite_engine(url: URL) -> Engine:
    return create_engine(url, connect_args={"timeout": PATIENCE}, json_deserializer=json_value)


def _reader(file: Path) -> Engine:
    """An engine that makes no files beside the database, as SQLite otherwise does."""
    unfinished = file.with_name(f"{file.name}-wal")
    if unfinished.exists() and unfinished.stat().st_size:
        raise InvalidInputError(
            f"the store {file} can't be written to, and its newest rows are still in {unfinished.name}: "
            "copy both to where they can be written to"
        )
    name = f"file:{quote(str(file))}?mode=ro&immutable=1"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(name, uri=True, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, json_deserializer=json_value)
    return engine.execution_options(**{READ_ONLY: True})


def writing(engine: Engine) -> Engine:
    """Return the engine for transactions that write."""
    return engine.execution_options(**{WRITING: True})


def guard_of(url: URL) -> Guard:
    """Return a context that turns the database's errors into one line with the store and no password."""

    @contextmanager
    def guard() -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, InvalidInputError) as error:
            cause = getattr(error, "orig", None) or error
            text = one_line(str(cause).partition("\n[SQL")[0])
            for secret in secrets(url):
                text = text.replace(secret, "***")
            raise InvalidInputError(f"the store {shown(url)}: {text}") from error

    return guard


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # `_begin_sqlite` begins all transactions; Python's module wouldn't for changes of the schema.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITING)
    # A transaction that writes waits for others at its begin, where SQLite can wait: one that has read can't.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
