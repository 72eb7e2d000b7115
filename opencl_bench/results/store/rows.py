"""Measurements as rows of the tables, and back, by way of their JSON form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Row, Select, Table, select

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.records.measurement_json import measurement_from_json, measurement_to_json
from coarsen.opencl_bench.results.store.schema import SHARED, measurement

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a measurement is in the tables: a row of its own, and the rows that it refers to."""

    shared: tuple[tuple[Table, Values], ...]
    own: Values


def rows_of(value: Measurement) -> Rows:
    """Return the rows that hold a measurement. Raises InvalidInputError if it could not be read back."""
    document = measurement_to_json(value)
    shared = []
    for table in SHARED:
        part = document.pop(table.name)
        key = content_key(part)
        shared.append((table, {"key": key, **part}))
        document[f"{table.name}_key"] = key
    return Rows(tuple(shared), document)


def content_key(part: Values) -> str:
    """SHA-256 of a subject, an environment or a method, in hexadecimal digits."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def selection(*columns: Column[Any]) -> Select[Any]:
    """Return a query for these columns of all measurements, joined with what they share."""
    joined = measurement.join(SHARED[0])
    for table in SHARED[1:]:
        joined = joined.join(table)
    return select(*columns).select_from(joined)


def all_columns() -> list[Column[Any]]:
    """Return the columns that `measurement_of` needs."""
    return [*measurement.c, *(column for table in SHARED for column in table.c)]


def measurement_of(row: Row[Any]) -> Measurement:
    """Return the measurement that a row of `selection(*all_columns())` holds.

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
