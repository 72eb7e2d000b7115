"""Connections to the SQLite file of a store, and its errors as one line."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from coarsen.errors import InvalidInputError, one_line
from coarsen.tuning.store import schema
from coarsen.tuning.store.place import can_be_written, default_file, json_value, store_file

PATIENCE = 60  # seconds to wait for another process that writes to an SQLite file

WRITING, READ_ONLY = "coarsen_writing", "coarsen_read_only"

Guard = Callable[[], AbstractContextManager[None]]


def file_in_folder(text: str | None = None) -> Path:
    """Return the file of a store, in a folder that exists; the user's data folder is made.

    Args:
        text: as for `store_file`.

    Raises:
        InvalidInputError: as `store_file`, or there is no such folder.
    """
    file = store_file(text)
    if file == default_file():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(
                f"the folder {file.parent} for the store can't be made: {error.strerror}"
            ) from error
    if not file.parent.is_dir():
        raise InvalidInputError(f"there is no folder {file.parent} for the store")
    return file


def engine_of(file: Path) -> Engine:
    """Return an engine for the database; connects to nothing yet.

    A file that can't be written to is only read.

    Raises:
        InvalidInputError: it can't be written to, and has changes beside it that nobody could take over.
    """
    if file.is_file() and not can_be_written(file):
        engine = _reader(file)
    else:
        url = URL.create("sqlite", database=str(file))
        engine = create_engine(url, connect_args={"timeout": PATIENCE}, json_deserializer=json_value)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


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


def guard_of(file: Path) -> Guard:
    """Return a context that turns the database's errors into one line that names the store."""

    @contextmanager
    def guard() -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, InvalidInputError) as error:
            cause = getattr(error, "orig", None) or error
            text = one_line(str(cause).partition("\n[SQL")[0])
            raise InvalidInputError(f"the store {file}: {text}") from error

    return guard


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # `_begin_sqlite` begins all transactions; Python's module wouldn't for changes of the schema.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITING)
    # A transaction that writes waits for others at its begin, where SQLite can wait: one that has read can't.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# Makes the tables of a database, once, however many processes open it at the same time.
#
# A database of another version of the schema is refused, and so is one that holds another program's tables.

# What `schema.py` says; a change of it takes the next number.
VERSION = "0005"
VERSION_TABLE = Table("schema_version", MetaData(), Column("version_num", String(32), primary_key=True))


def prepare(engine: Engine) -> None:
    """Make the tables of a database that has none.

    Raises:
        InvalidInputError: it is of another version, or no store; it is empty and can't be written to.
    """
    with engine.connect() as connection:
        if _has_tables(connection):
            return
    if engine.get_execution_options().get(READ_ONLY):
        raise InvalidInputError("it has no tables yet, and can't be written to: copy it to where it can")
    _write_ahead(engine)
    with writing(engine).begin() as connection:
        if not _has_tables(connection):
            schema.metadata.create_all(connection)
            VERSION_TABLE.create(connection, checkfirst=True)
            connection.execute(insert(VERSION_TABLE).values(version_num=VERSION))


def _has_tables(connection: Connection) -> bool:
    """Return True if the database has this version's tables, False if it is empty. Raises as `prepare` does."""
    names = inspect(connection).get_table_names()
    known = VERSION_TABLE.name in names
    version = connection.execute(select(VERSION_TABLE.c.version_num)).scalar() if known else None
    if version is None:
        if others := set(names) - {VERSION_TABLE.name}:
            raise InvalidInputError(
                f"the database holds other tables ({', '.join(sorted(others)[:3])}) and no store"
            )
        return False
    if version > VERSION:
        raise InvalidInputError(
            f"its schema has version {version}, this program knows up to {VERSION}: a newer coarsen is needed"
        )
    if version < VERSION:
        raise InvalidInputError(
            f"its schema has version {version}, this program reads {VERSION}: "
            "write `coarsen results export rows.jsonl` with the coarsen that made it, "
            "and `coarsen results import rows.jsonl` with this one"
        )
    return True


def _write_ahead(engine: Engine) -> None:
    """Set the file to write-ahead logging, in which readers and a writer don't wait for each other.

    It is kept in the file. SQLite does not wait for other processes while it changes this, so this does.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        finally:
            connection.close()
