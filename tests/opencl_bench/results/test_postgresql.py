"""The server that the tests use is there, and each test has a database of its own."""

from __future__ import annotations

import psycopg


def test_databases_are_apart(postgresql_url: str, postgresql_database: str) -> None:
    with psycopg.connect(postgresql_database) as connection:
        connection.execute("CREATE TABLE here (number integer)")
    with psycopg.connect(postgresql_url) as connection:
        assert connection.execute("SELECT to_regclass('here')").fetchone() == (None,)
