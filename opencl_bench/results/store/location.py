"""Where a store is: what a person writes, as a database URL.

results.sqlite                      an SQLite file
sqlite:///results.sqlite            the same
postgresql://name@server/database   a database of a PostgreSQL server
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.store.place import SQLITE, chosen_store, default_file

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
        _make_data_folder()
    if not _is_text(chosen):
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


def _is_text(name: str) -> bool:
    """Return True if a name can be written in UTF-8.

    Bytes of another encoding come as halves of surrogate pairs.
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


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


def _make_data_folder() -> None:
    """Make the user's data folder if need be."""
    folder = default_file().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {folder} for the store can't be made: {error.strerror}") from error


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
