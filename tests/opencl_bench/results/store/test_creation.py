"""The tables of a store are made once, as `schema.py` says; those of others, or of other versions, are kept."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, Table, inspect, select, text

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Environment, Measurement, Method, Subject
from coarsen.tuning.store import schema
from coarsen.tuning.store.connection import VERSION, VERSION_TABLE, engine_of
from coarsen.tuning.store.database import open_store
from tests.opencl_bench.measurements import some_measurement


@pytest.fixture
def engine(url: str) -> Engine:
    return engine_of(Path(url))


def version(connection: Connection) -> list[str]:
    return list(connection.execute(select(VERSION_TABLE.c.version_num)).scalars())


def check_newest(engine: Engine) -> None:
    with engine.connect() as connection:
        assert version(connection) == [VERSION]
        names = {*schema.metadata.tables, VERSION_TABLE.name}
        assert set(inspect(connection).get_table_names()) == names
        for table in schema.metadata.tables.values():
            found = [column["name"] for column in inspect(connection).get_columns(table.name)]
            assert found == [column.name for column in table.c]


def of_version(engine: Engine, number: str) -> None:
    """Make a store say that it is of another version."""
    with engine.begin() as connection:
        connection.execute(VERSION_TABLE.update().values(version_num=number))


def test_from_an_empty_database(engine: Engine, url: str) -> None:
    open_store(url).close()
    check_newest(engine)


def test_from_a_database_before_the_first_version(engine: Engine, url: str) -> None:
    with engine.begin() as connection:
        VERSION_TABLE.create(connection)
    open_store(url).close()
    check_newest(engine)


def test_tables_made_by_halves_are_none(engine: Engine, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_table: Table) -> None:
        raise InterruptedError

    monkeypatch.setattr("coarsen.tuning.store.connection.insert", fail)
    with pytest.raises(InterruptedError):
        open_store(url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    monkeypatch.undo()
    open_store(url).close()
    check_newest(engine)


def test_opening_again_changes_nothing(url: str) -> None:
    with open_store(url) as store:
        store.add(some_measurement())
    with open_store(url) as again:
        assert list(again.measurements()) == [some_measurement()]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("9999", "its schema has version 9999, this program knows up to .*: a newer coarsen is needed"),
        ("0003", "its schema has version 0003, this program reads .*: write `coarsen results export rows.jsonl`"),
    ],
)
def test_another_version_is_refused(engine: Engine, url: str, number: str, message: str) -> None:
    open_store(url).close()
    of_version(engine, number)
    with pytest.raises(InvalidInputError, match=message) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)
    with engine.connect() as connection:
        assert version(connection) == [number]


# What the program wrote whose version of the tables had a migration for each change.
MADE_BEFORE = """
CREATE TABLE schema_version
    (version_num VARCHAR(32) NOT NULL, CONSTRAINT schema_version_pkc PRIMARY KEY (version_num));
CREATE TABLE store (number INTEGER NOT NULL, identity VARCHAR NOT NULL, PRIMARY KEY (number));
INSERT INTO schema_version VALUES ('0005');
INSERT INTO store VALUES (1, '7c6e4b0e-32a6-4b4e-9a59-0c9d7fd4f0a7');
"""


def test_a_store_that_migrations_made_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(MADE_BEFORE)
    schema.metadata.create_all(engine_of(path), checkfirst=True)
    with open_store(str(path)) as store:
        assert store.add(some_measurement())
        assert list(store.measurements()) == [some_measurement()]


def test_a_database_of_another_program_is_left_alone(engine: Engine, url: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE recipes (name VARCHAR)"))
    before = Path(url).read_bytes()
    with pytest.raises(InvalidInputError, match=r"holds other tables \(recipes\) and no store"):
        open_store(url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["recipes"]
    assert before == Path(url).read_bytes()


def test_sqlite_writes_ahead(tmp_path: Path) -> None:
    path = str(tmp_path / "results.sqlite")
    open_store(path).close()
    with engine_of(Path(path)).connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"


@pytest.mark.parametrize(
    ("table", "kind"),
    [(schema.subject, Subject), (schema.environment, Environment), (schema.method, Method)],
    ids=["subject", "environment", "method"],
)
def test_columns_are_the_fields(table: Table, kind: type[Subject | Environment | Method]) -> None:
    fields = [field.name for field in dataclasses.fields(kind)]
    assert [column.name for column in table.c] == ["key", *fields]


def test_columns_of_measurements_are_its_fields() -> None:
    shared = {table.name for table in schema.SHARED}
    expected = [
        f"{field.name}_key" if field.name in shared else field.name for field in dataclasses.fields(Measurement)
    ]
    assert [column.name for column in schema.measurement.c] == ["key", *expected]
