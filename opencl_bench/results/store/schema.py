"""The tables of the store.

    measurement ──▶ subject       what was measured
                ──▶ environment   where
                ──▶ method        how

    store: one row, the database's identity
    remembered: choices that tuning made, each by itself
    input: presets of benchmarks that are inputs to tune over, described; no measurement refers to them by key

The columns are the fields of the data classes in `measurement.py`, `remembered/choice.py` and `described_input.py`.
What many measurements share is one row of `subject`, `environment` or `method`, keyed by its content. Lists are JSON
arrays; so are the pairs of sizes and versions, whose order counts. A change of these takes the next number in
`creation.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_type_hints

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)
from sqlalchemy.types import TypeEngine

from coarsen.opencl_bench.records.described_input import DescribedInput
from coarsen.opencl_bench.records.measurement import Environment, Measurement, Method, Subject
from coarsen.opencl_bench.records.measurement_json import BESIDE
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice, RememberedKey
from coarsen.opencl_bench.results.remembered.size_class import SizeClass

# PostgreSQL's own names, so that constraints are called alike in every database.
NAMES = {
    "pk": "%(table_name)s_pkey",
    "fk": "%(table_name)s_%(column_0_name)s_fkey",
}
metadata = MetaData(naming_convention=NAMES)

# Times and keys are ordered byte by byte, whatever language a PostgreSQL server is set to.
ORDERED = String().with_variant(String(collation="C"), "postgresql")
_OF_TIME = ("started_at", "found_at")
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
    if name in _OF_TIME:
        kind: TypeEngine[Any] = ORDERED
    elif isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        kind = String()
    else:
        # None is no value of a column, not the value `null` in it.
        kind = _TYPES.get(hint, String() if name == "form" else JSON(none_as_null=is_nullable))
    return Column(name, kind, nullable=is_nullable, server_default=_DEFAULTS.get(name))


def _key(kind: TypeEngine[Any] | type[String] = String) -> Column[Any]:
    return Column("key", kind, primary_key=True)


store = Table(
    "store",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("identity", String, nullable=False),
)
subject = Table("subject", metadata, _key(), *_columns(Subject), Index("subject_benchmark", "benchmark"))
environment = Table("environment", metadata, _key(), *_columns(Environment))
method = Table("method", metadata, _key(), *_columns(Method))
measurement = Table(
    "measurement",
    metadata,
    _key(ORDERED),
    *_columns(Measurement),
    Index("measurement_order", "started_at", "key"),
    Index("measurement_subject", "subject_key"),
    Index("measurement_environment", "environment_key"),
)
input_table = Table(
    "input", metadata, _key(ORDERED), *_columns(DescribedInput), Index("input_benchmark", "benchmark")
)
remembered = Table(
    "remembered", metadata, _key(ORDERED), *_columns(RememberedChoice), Index("remembered_kernel", "kernel")
)

# The tables of what measurements share, in the order in which every writer fills them: two that write at once
# then never wait for each other.
SHARED = (subject, environment, method)
