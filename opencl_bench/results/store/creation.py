"""Makes the tables of a database, once, however many processes open it at the same time.

A database of another version of the schema is refused, and so is one that holds another program's tables.
"""

from __future__ import annotations

import sqlite3
import time
import uuid

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, func, insert, inspect, select

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.store import schema
from coarsen.opencl_bench.results.store.engine import PATIENCE, READ_ONLY, writing
from coarsen.opencl_bench.results.store.place import SQLITE

_POSTGRESQL = "postgresql"
# What `schema.py` says; a change of it takes the next number.
VERSION = "0005"
VERSION_TABLE = Table("schema_version", MetaData(), Column("version_num", String(32), primary_key=True))
ADVISORY_LOCK = 0x636F617273656E  # any number that no other program is likely to lock: "coarsen"


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
    if engine.dialect.name == SQLITE:
        _write_ahead(engine)
    with writing(engine).begin() as connection:
        if engine.dialect.name == _POSTGRESQL:
            connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        if not _has_tables(connection):
            _make_tables(connection)


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


def _make_tables(connection: Connection) -> None:
    schema.metadata.create_all(connection)
    VERSION_TABLE.create(connection, checkfirst=True)
    connection.execute(insert(schema.store).values(number=1, identity=str(uuid.uuid4())))
    connection.execute(insert(VERSION_TABLE).values(version_num=VERSION))


def _write_ahead(engine: Engine) -> None:
    """Set an SQLite file to write-ahead logging, in which readers and a writer don't wait for each other.

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
