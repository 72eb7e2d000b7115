"""Connections to the database of a store, and its errors as one line."""

from __future__ import annotations

import sqlite3
import time
import uuid
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
    func,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from coarsen.errors import InvalidInputError, one_line
from coarsen.tuning.store import schema
from coarsen.tuning.store.place import SQLITE, can_be_written, chosen_store, default_file, json_value

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
        if is_read_only(url):
            engine = _reader(Path(str(url.database)))
        else:
            engine = create_engine(url, connect_args={"timeout": PATIENCE}, json_deserializer=json_value)
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


# Where a store is: what a person writes, as a database URL.
#
# results.sqlite                      an SQLite file
# sqlite:///results.sqlite            the same
# postgresql://name@server/database   a database of a PostgreSQL server

POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
SECRETS = ("password", "sslpassword")


def store_url(text: str | None = None) -> URL:
    """Return the database URL of a store.

    Args:
        text: a URL or the path of an SQLite file; None: what `COARSEN_STORE` says, or else a file in the user's
            data folder, which is made.

    Raises:
        InvalidInputError: no URL, or one of a database that isn't supported.
    """
    chosen = chosen_store(text)
    if chosen == str(default_file()):
        folder = default_file().parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(
                f"the folder {folder} for the store can't be made: {error.strerror}"
            ) from error
    # Bytes of another encoding come as halves of surrogate pairs.
    if any("\ud800" <= letter <= "\udfff" for letter in chosen):
        raise InvalidInputError(f"the store {chosen[:60]!a} has a name that is no text in UTF-8")
    if "://" not in chosen:
        return sqlite_url(chosen)
    if chosen.count("@") > 1:
        # Which of them ends the password nobody can tell, and what comes after it is shown.
        raise InvalidInputError("the URL of the store has more than one @: write one in a password or name as %40")
    try:
        url = make_url(chosen)
    except (ArgumentError, ValueError) as error:
        raise InvalidInputError("the URL of the store can't be read") from error
    if url.drivername in POSTGRESQL:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername != SQLITE:
        raise InvalidInputError(f"the store must be in SQLite or PostgreSQL, not in {url.drivername!r}")
    if not url.database or url.database == ":memory:" or url.host or url.query:
        raise InvalidInputError("the URL of an SQLite store must be sqlite:/// and the path of a file")
    return sqlite_url(url.database)


def sqlite_url(path: str) -> URL:
    """Return the URL of an SQLite file in a folder that exists."""
    if "\0" in path:
        raise InvalidInputError(f"no file can be called {path!a}")
    try:
        file = Path(path).expanduser().absolute()
        folder_exists, is_folder = file.parent.is_dir(), file.is_dir()
    except (OSError, RuntimeError) as error:  # a name that is too long, an unknown user's home
        raise InvalidInputError(f"the store can't be at {path!a}: {error}") from error
    if not folder_exists:
        raise InvalidInputError(f"there is no folder {file.parent} for the store")
    if is_folder:
        raise InvalidInputError(f"the store must be a file, and {file} is a folder")
    return URL.create(SQLITE, database=str(file))


def shown(url: URL) -> str:
    """Return the URL, or the file's path, as it is shown: without any password."""
    if url.drivername == SQLITE:
        return str(url.database)
    harmless = URL.create(
        url.drivername.partition("+")[0],
        username=url.username,
        host=url.host,
        port=url.port,
        database=url.database,
        query={name: value for name, value in url.query.items() if name not in SECRETS},
    )
    return harmless.render_as_string()


def secrets(url: URL) -> tuple[str, ...]:
    """Return the passwords that a URL holds."""
    queried = [value for name in SECRETS for value in url.normalized_query.get(name, ())]
    return tuple(secret for secret in (url.password, *queried) if secret)


# Makes the tables of a database, once, however many processes open it at the same time.
#
# A database of another version of the schema is refused, and so is one that holds another program's tables.

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
