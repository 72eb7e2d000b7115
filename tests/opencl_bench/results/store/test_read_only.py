"""A store that can't be written to is read, and nothing is made beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.store.database import open_store
from tests.opencl_bench.measurements import several_measurements, some_measurement

ROWS = several_measurements(3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in a folder of its own."""
    path = tmp_path / "a folder?" / "results.sqlite"
    path.parent.mkdir()
    with open_store(str(path)) as store:
        store.add_all(ROWS)
    return path


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A medium that can't be written to, also for root."""
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)


@pytest.mark.usefixtures("read_only")
def test_it_is_read(path: Path) -> None:
    with open_store(str(path)) as store:
        assert list(store.measurements()) == ROWS
        assert store.count() == 3 and store.find(ROWS[1].key) == ROWS[1]
        assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.usefixtures("read_only")
def test_nothing_is_written(path: Path) -> None:
    before = path.read_bytes()
    with open_store(str(path)) as store, pytest.raises(InvalidInputError, match="readonly database"):
        store.add(some_measurement(seed=77))
    assert path.read_bytes() == before


def test_rows_beside_it_are_not_overlooked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(path)) as store:
        store.add(some_measurement(seed=77))
        copy = Path(shutil.copytree(path.parent, path.parent.with_name("copy"))) / path.name
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    with pytest.raises(InvalidInputError, match=r"newest rows are still in results\.sqlite-wal: copy both"):
        open_store(str(copy))


def test_an_empty_database_must_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    with pytest.raises(InvalidInputError, match="no tables yet, and can't be written to: copy it"):
        open_store(str(path))
