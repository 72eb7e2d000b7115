"""Databases of any version become the newest, which is what `schema.py` says; others' databases are left alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Table, inspect, select, text

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Environment, Measurement, Method, Subject
from coarsen.opencl_bench.records.measurement_json import ADDED_LATER, measurement_from_json
from coarsen.opencl_bench.results.store import schema
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.results.store.engine import engine_of
from coarsen.opencl_bench.results.store.insertion import insert_new
from coarsen.opencl_bench.results.store.location import store_url
from coarsen.opencl_bench.results.store.migration import VERSION_TABLE, configuration, migrate
from coarsen.opencl_bench.results.store.rows import Rows, rows_of
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.records.test_stored_before import STORED, stored

VERSIONS = [script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()]


@pytest.fixture
def engine(url: str) -> Engine:
    return engine_of(store_url(url))


def version(connection: Connection) -> list[str]:
    return list(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars())


def differences(connection: Connection) -> list[object]:
    """What alembic would change to make the database what `schema.py` says."""
    options = {"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), schema.metadata))


def check_newest(engine: Engine) -> None:
    with engine.connect() as connection:
        assert version(connection) == [VERSIONS[0]]
        assert differences(connection) == []


@pytest.mark.parametrize("start", VERSIONS)
def test_from_each_version(engine: Engine, url: str, start: str) -> None:
    migrate(engine, start)
    with engine.connect() as connection:
        assert version(connection) == [start]
    with open_store(url) as store:
        assert store.add(some_measurement())
    check_newest(engine)


def test_from_an_empty_database(engine: Engine, url: str) -> None:
    open_store(url).close()
    check_newest(engine)


def test_from_a_database_before_the_first_version(engine: Engine, url: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL)"))
    open_store(url).close()
    check_newest(engine)


def test_a_migration_that_breaks_off_leaves_nothing(
    engine: Engine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise InterruptedError

    monkeypatch.setattr("alembic.op.bulk_insert", fail)
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
        assert again.identity == store.identity
        assert list(again.measurements()) == [some_measurement()]


def test_a_newer_version_is_refused(engine: Engine, url: str) -> None:
    open_store(url).close()
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(InvalidInputError) as caught:
        open_store(url)
    assert "schema has version 9999" in str(caught.value)
    assert "a newer coarsen is needed" in str(caught.value)
    assert "\n" not in str(caught.value)
    with engine.connect() as connection:
        assert version(connection) == ["9999"]


def test_a_database_of_another_program_is_left_alone(engine: Engine, url: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE recipes (name VARCHAR)"))
    before = Path(url).read_bytes() if engine.dialect.name == "sqlite" else b""
    with pytest.raises(InvalidInputError, match=r"holds other tables \(recipes\) and no store"):
        open_store(url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["recipes"]
    assert before == (Path(url).read_bytes() if before else b"")


def test_sqlite_writes_ahead(tmp_path: Path) -> None:
    path = str(tmp_path / "results.sqlite")
    open_store(path).close()
    with engine_of(store_url(path)).connect() as connection:
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


def test_rows_from_before_transforms_say_what_they_implied(engine: Engine, url: str) -> None:
    """As the second version finds them, and as it leaves them: the same measurements under the same keys."""
    rows = [measurement_from_json(stored(*row)) for row in STORED.values()]
    migrate(engine, "0001")
    with engine.begin() as connection:
        assert insert_new(connection, [_as_of_old(row) for row in rows]) == len(rows)
    with open_store(url) as store:
        assert sorted(store.measurements(), key=key_of) == sorted(rows, key=key_of)
    with engine.connect() as connection:
        candidates = list(connection.execute(select(schema.measurement.c.candidate)).scalars())
    assert all("transforms" in candidate for candidate in candidates)


def key_of(row: Measurement) -> str:
    return row.key


def _as_of_old(row: Measurement) -> Rows:
    """The rows that the program of that time made of a measurement."""
    rows = rows_of(row)
    candidate = {name: value for name, value in rows.own["candidate"].items() if name != "transforms"}
    own = {name: value for name, value in rows.own.items() if name not in ADDED_LATER}
    return dataclasses.replace(rows, own={**own, "candidate": candidate})
