"""The tables of the store.

    measurement ──▶ subject       what was measured
                ──▶ environment   where
                ──▶ method        how

    remembered: choices that tuning made, each by itself

The columns are the fields of the data classes `Measurement` and `RememberedChoice`. What many
measurements share is one row of `subject`, `environment` or `method`, keyed by its content. Lists are JSON arrays;
so are the pairs of sizes and versions, whose order counts. A change of the tables takes the next number in
`connection.VERSION`.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, TypeAlias, get_args, get_type_hints

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    ForeignKey,
    FromClause,
    Index,
    MetaData,
    Row,
    Select,
    String,
    Table,
    and_,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeEngine

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Environment, Invalidity, Measurement, Method, Role, Subject
from coarsen.tuning.records.measurement_json import BESIDE, measurement_from_json, measurement_to_json
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, SizeClass

metadata = MetaData()
# What rows of before these were part of a measurement are: of the first invocation, by the sum.
_DEFAULTS = {"invocation": "0", "clock": "sum"}
_TYPES: dict[Any, TypeEngine[Any]] = {
    str: String(),
    SizeClass: String(),
    int: BigInteger(),
    float: Double(),
    bool: Boolean(),
}


def _columns(kind: type[Any]) -> Iterator[Column[Any]]:
    """Yield a column for each field of a data class; a shared part or a key of several fields has its own."""
    hints = get_type_hints(kind)
    for name in (field.name for field in fields(kind)):
        hint = hints[name]
        if hint is RememberedKey:
            yield from _columns(RememberedKey)
        elif hint in (Subject, Environment, Method):
            yield Column(f"{name}_key", String, ForeignKey(f"{name}.key"), nullable=False)
        else:
            yield _column(name, hint)


def _column(name: str, hint: Any) -> Column[Any]:  # noqa: ANN401 (any type)
    is_nullable = NoneType in get_args(hint) or name in BESIDE
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        kind: TypeEngine[Any] = String()
    else:
        # None is no value of a column, not the value `null` in it.
        kind = _TYPES.get(hint, String() if name == "form" else JSON(none_as_null=is_nullable))
    return Column(name, kind, nullable=is_nullable, server_default=_DEFAULTS.get(name))


def _key() -> Column[Any]:
    return Column("key", String, primary_key=True)


subject = Table("subject", metadata, _key(), *_columns(Subject), Index("subject_benchmark", "benchmark"))
environment = Table("environment", metadata, _key(), *_columns(Environment))
method = Table("method", metadata, _key(), *_columns(Method))
measurement = Table(
    "measurement",
    metadata,
    _key(),
    *_columns(Measurement),
    Index("measurement_order", "started_at", "key"),
    Index("measurement_subject", "subject_key"),
    Index("measurement_environment", "environment_key"),
)
remembered = Table(
    "remembered", metadata, _key(), *_columns(RememberedChoice), Index("remembered_kernel", "kernel")
)

# The tables of what measurements share, in the order in which every writer fills them: two that write at once
# then never wait for each other.
SHARED = (subject, environment, method)


# Measurements as rows of the tables, and back, by way of their JSON form.

Values = Mapping[str, Any]


# What a measurement is in the tables: a row of each, by the table's name.
Rows = Mapping[str, Values]


def rows_of(value: Measurement) -> Rows:
    """Return the rows that hold a measurement. Raises InvalidInputError if it could not be read back."""
    own = measurement_to_json(value)
    parts = {table.name: own.pop(table.name) for table in SHARED}
    shared = {name: {"key": content_key(part), **part} for name, part in parts.items()}
    return {**shared, measurement.name: {**own, **{f"{name}_key": part["key"] for name, part in shared.items()}}}


def content_key(part: Values) -> str:
    """SHA-256 of a subject, an environment or a method, in hexadecimal digits."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def selection(chosen: Filter, *columns: Column[Any]) -> Select[Any]:
    """Return a query for columns of the measurements that a filter lets through, joined with what they share."""
    joined = measurement.join(SHARED[0])
    for table in SHARED[1:]:
        joined = joined.join(table)
    return select(*columns).select_from(joined).where(passes(chosen, measurement, *SHARED))


def all_columns() -> list[Column[Any]]:
    """Return the columns that `measurement_of` needs."""
    return [*measurement.c, *(column for table in SHARED for column in table.c)]


def measurement_of(row: Row[Any]) -> Measurement:
    """Return the measurement that a row of `selection` of `all_columns` holds.

    Raises:
        InvalidInputError: it holds none; the message names the row.
    """
    values = row._mapping
    document = {column.name: values[column] for column in measurement.c if not column.foreign_keys}
    for table in SHARED:
        document[table.name] = {column.name: values[column] for column in table.c if not column.primary_key}
    try:
        return measurement_from_json(document)
    except InvalidInputError as error:
        raise InvalidInputError(f"the row {str(document['key'])[:12]!a} is damaged: {error}") from error


# Inserting rows, safe against others that insert the same at the same time.

# SQLAlchemy has the columns of a new row and of a table as collections of different types.
IsBetter: TypeAlias = Callable[[Any, Any], ColumnElement[bool]]


def insert_new(connection: Connection, batch: Sequence[Rows]) -> int:
    """Inserts the measurements whose keys aren't there yet; how many these were."""
    _insert_shared(connection, batch)
    # In one order for all writers, so that two of them never wait for each other.
    ordered = sorted((rows[measurement.name] for rows in batch), key=lambda own: str(own["key"]))
    return sum(_insert(connection, measurement, own) for own in ordered)


def insert_or_replace(connection: Connection, rows: Rows) -> None:
    """Inserts a measurement in the place of the one of its key, if there is one."""
    _insert_shared(connection, [rows])
    put_row(connection, measurement, rows[measurement.name])


def put_row(connection: Connection, table: Table, values: Values, is_better: IsBetter | None = None) -> int:
    """Insert a row in the place of the one of its key, if there is one; return the number of rows written.

    Args:
        connection: in a transaction that writes.
        table: whose primary key is the column `key`.
        values: of all columns.
        is_better: says by the columns of the new row and of the one that is there whether that is replaced; it
            always is if None.
    """
    statement = sqlite.insert(table)
    columns = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    where = None if is_better is None else is_better(statement.excluded, table.c)
    statement = statement.on_conflict_do_update(index_elements=["key"], set_=columns, where=where)
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount


def _insert_shared(connection: Connection, batch: Sequence[Rows]) -> None:
    for table in SHARED:
        parts = {str(rows[table.name]["key"]): rows[table.name] for rows in batch}
        for key in sorted(parts):
            _insert(connection, table, parts[key])


def _insert(connection: Connection, table: Table, values: Values) -> int:
    """Inserts a row unless its key is there; 1 if it was inserted, otherwise 0."""
    statement = _insertion_unless_there(table)
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount


@cache
def _insertion_unless_there(table: Table) -> sqlite.Insert:
    """The statement, made once for each table: making it takes as long as running it."""
    return sqlite.insert(table).on_conflict_do_nothing(index_elements=["key"])


@dataclass(frozen=True, slots=True)
class Filter:
    """What rows, or choices, must have in common; None: anything.

    `device` is any part of the name of the device, or of its platform's name, vendor or version, in any case; a
    platform's name wins over a device's, as in `coarsen.devices.selection`: among rows of Intel's runtime and of
    PoCL on an Intel processor, "intel" means those of the runtime. `key_prefix` is how the key begins.
    """

    benchmark: str | None = None
    kernel: str | None = None
    device: str | None = None
    preset: str | None = None
    role: Role | None = None
    invalidity: Invalidity | None = None
    key_prefix: str | None = None


def passes(chosen: Filter, table: Table, *shared: Table) -> ColumnElement[bool]:
    """Return the condition that a row of a table, joined with what it shares, is let through by a filter."""
    columns = {column.name: column for each in (*shared, table) for column in each.c}
    equal = {name: value for name, value in asdict(chosen).items() if value is not None and name in columns}
    equal.pop("device", None)
    conditions = [columns[name] == str(value) for name, value in equal.items()]
    if chosen.device is not None:
        conditions.append(_is_called(chosen.device, columns["device"].table))
    if chosen.key_prefix is not None:
        conditions.append(table.c.key.startswith(chosen.key_prefix.lower(), autoescape=True))
    return and_(true(), *conditions)


def _is_called(part: str, table: FromClause) -> ColumnElement[bool]:
    """The condition that a row's device, or its platform, has a text in its names; `%` and `_` mean themselves."""
    of_the_platform = _one_contains(part, table.c.platform, table.c.platform_version)
    of_the_device = _one_contains(part, table.c.device, table.c.vendor)
    names_a_platform = select(table.c.key).where(of_the_platform).correlate(None).exists()
    return or_(of_the_platform, and_(not_(names_a_platform), of_the_device))


def _one_contains(part: str, *names: ColumnElement[Any]) -> ColumnElement[bool]:
    return or_(*(name.icontains(part, autoescape=True) for name in names))
