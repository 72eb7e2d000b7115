"""Brings a database to the newest version of the schema, once, however many processes open it at the same time.

    empty ──▶ 0001 ──▶ … ──▶ newest        (each arrow: a module in `migrations/versions`)

Refuses a database of a newer version than this program knows, and one that holds another program's tables.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, func, inspect, select

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.store.engine import PATIENCE, READ_ONLY, writing
from coarsen.opencl_bench.results.store.place import SQLITE

POSTGRESQL = "postgresql"
VERSION_TABLE = "schema_version"
ADVISORY_LOCK = 0x636F617273656E  # any number that no other program is likely to lock: "coarsen"
ONE_AT_A_TIME = threading.Lock()  # alembic keeps the migration in progress in its modules, for all threads


def migrate(engine: Engine, target: str = "head") -> None:
    """Brings the database to a version of the schema, the newest by default.

    Raises:
        InvalidInputError: it is of a newer version, or no store.
    """
    config = configuration()
    with engine.connect() as connection:
        version = _checked_version(connection)
        if version == _known_versions()[0]:
            return
    if engine.get_execution_options().get(READ_ONLY):
        raise InvalidInputError(
            f"its schema has {f'version {version}' if version else 'no version'} and must be brought to "
            f"{_known_versions()[0]}, but it can't be written to: copy it to where it can"
        )
    if engine.dialect.name == SQLITE:
        _write_ahead(engine)
    with writing(engine).begin() as connection:
        if engine.dialect.name == POSTGRESQL:
            connection.execute(select(func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        _checked_version(connection)
        config.attributes["connection"] = connection
        with ONE_AT_A_TIME:
            command.upgrade(config, target)


def configuration() -> Config:
    """Alembic's configuration."""
    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config


def _known_versions() -> list[str]:
    """The versions that there are modules for, the newest first."""
    return [script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()]


def _checked_version(connection: Connection) -> str | None:
    """The version of the database's schema, None if it is empty. Raises InvalidInputError as `migrate` does."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    version, known = context.get_current_revision(), _known_versions()
    if version is None:
        tables = inspect(connection).get_table_names()
        if set(tables) - {VERSION_TABLE}:
            raise InvalidInputError(f"the database holds other tables ({', '.join(tables[:3])}) and no store")
    elif version not in known:
        raise InvalidInputError(
            f"its schema has version {version}, this program knows up to {known[0]}: a newer coarsen is needed"
        )
    return version


def _write_ahead(engine: Engine) -> None:
    """Sets an SQLite file to write-ahead logging, in which readers and a writer don't wait for each other.

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
