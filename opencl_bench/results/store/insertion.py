"""Inserting rows, alike in SQLite and PostgreSQL, safe against others that insert the same at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from coarsen.opencl_bench.results.store.place import SQLITE
from coarsen.opencl_bench.results.store.rows import Rows, Values
from coarsen.opencl_bench.results.store.schema import SHARED, measurement

# SQLAlchemy has the columns of a new row and of a table as collections of different types.
IsBetter: TypeAlias = Callable[[Any, Any], ColumnElement[bool]]


def insert_new(connection: Connection, batch: Sequence[Rows]) -> int:
    """Inserts the measurements whose keys aren't there yet; how many these were."""
    _insert_shared(connection, batch)
    # In one order for all writers, so that two of them never wait for each other.
    ordered = sorted((rows.own for rows in batch), key=lambda own: str(own["key"]))
    return sum(_insert(connection, measurement, own) for own in ordered)


def insert_or_replace(connection: Connection, rows: Rows) -> None:
    """Inserts a measurement in the place of the one of its key, if there is one."""
    _insert_shared(connection, [rows])
    put_row(connection, measurement, rows.own)


def put_row(connection: Connection, table: Table, values: Values, is_better: IsBetter | None = None) -> int:
    """Insert a row in the place of the one of its key, if there is one; return the number of rows written.

    Args:
        connection: in a transaction that writes.
        table: whose primary key is the column `key`.
        values: of all columns.
        is_better: says by the columns of the new row and of the one that is there whether that is replaced; it
            always is if None.
    """
    statement = _insertion(connection, table)
    columns = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    where = None if is_better is None else is_better(statement.excluded, table.c)
    statement = statement.on_conflict_do_update(index_elements=["key"], set_=columns, where=where)
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount


def _insert_shared(connection: Connection, batch: Sequence[Rows]) -> None:
    for table in SHARED:
        parts = {str(part["key"]): part for rows in batch for owner, part in rows.shared if owner is table}
        for key in sorted(parts):
            _insert(connection, table, parts[key])


def _insert(connection: Connection, table: Table, values: Values) -> int:
    """Inserts a row unless its key is there; 1 if it was inserted, otherwise 0."""
    statement = _insertion_unless_there(connection.dialect.name, table)
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount


@cache
def _insertion_unless_there(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """The statement, made once for each table: making it takes as long as running it."""
    return _of_dialect(dialect, table).on_conflict_do_nothing(index_elements=["key"])


def _insertion(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    return _of_dialect(connection.dialect.name, table)


def _of_dialect(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    return sqlite.insert(table) if dialect == SQLITE else postgresql.insert(table)
