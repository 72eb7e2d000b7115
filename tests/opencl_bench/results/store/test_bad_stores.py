"""What can't be opened or read is one clear line, without a password."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
from sqlalchemy import text

from coarsen.errors import InvalidInputError
from coarsen.tuning.store.connection import engine_of
from coarsen.tuning.store.database import Store, open_existing_store, open_store
from coarsen.tuning.store.place import STORE_VARIABLE
from tests.opencl_bench.measurements import several_measurements, some_measurement


def message(url: str) -> str:
    """The one line with which a store is refused."""
    with pytest.raises(InvalidInputError) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "content", [b"x", b"SQLite", b"key,benchmark\n", b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    assert message(str(path)) == f"the store {path}: file is not a database"
    assert path.read_bytes() == content


def test_to_look_at_a_file_of_one_byte_makes_no_store_of_it(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.write_bytes(b"x")
    with pytest.raises(InvalidInputError, match="file is not a database"):
        open_existing_store(str(path))
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize("name", ["results\udcff.sqlite", "sqlite:///a\udcff"])
def test_names_that_are_no_utf_8(name: str) -> None:
    assert "has a name that is no text in UTF-8" in message(name)


def test_to_look_at_an_empty_file_makes_no_store_of_it(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.touch()
    with pytest.raises(InvalidInputError, match=rf"there is no store at {path}: the file is empty"):
        open_existing_store(str(path))
    assert path.read_bytes() == b""


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    path.touch()
    with open_store(str(path)) as store:
        assert store.add(some_measurement())


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert message(str(tmp_path)) == f"the store must be a file, and {tmp_path} is a folder"
    assert message(f"{tmp_path}/missing/results") == f"there is no folder {tmp_path}/missing for the store"
    assert message(f"{tmp_path}/file/results") == f"there is no folder {tmp_path}/file for the store"
    assert "no file can be called" in message("a\0b")
    assert "the store can't be at" in message("x" * 5000)
    assert "the store can't be at" in message("~nosuchuser/results")
    # Nobody, not even root, can make a file there.
    assert message("/proc/results.sqlite") == "the store /proc/results.sqlite: unable to open database file"


@pytest.mark.parametrize("url", ["postgresql://me:hidden@server/results", "sqlite:///results.sqlite", "://"])
def test_urls(url: str) -> None:
    scheme = url.partition("://")[0]
    assert message(url) == f"the store is an SQLite file: give its path, not a URL ({scheme}://…)"


def test_where_a_store_is_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    with open_store() as store:
        assert store.location == str(tmp_path / "coarsen" / "measurements.sqlite")
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "other.sqlite"))
    with open_store() as store:
        assert store.location == str(tmp_path / "other.sqlite")
    with open_store(str(tmp_path / "third.sqlite")) as store:
        assert store.location == str(tmp_path / "third.sqlite")


def test_a_data_folder_that_can_not_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    with pytest.raises(
        InvalidInputError, match=f"the folder {platformdirs.user_data_path('coarsen')} .* can't be made"
    ):
        open_store()


def damage(url: str, change: str) -> None:
    with engine_of(Path(url)).begin() as connection:
        connection.execute(text(change))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("UPDATE subject SET seed = 7 WHERE seed = 1", "is not that of its content"),
        ("UPDATE measurement SET invalidity = 'fine'", "must be one of correct"),
        ("UPDATE measurement SET nanoseconds = '{}'", "'nanoseconds' of the measurement must be a list"),
        ("UPDATE measurement SET started_at = 'noon'", "no time in UTC"),
    ],
)
def test_a_damaged_row_is_named(store: Store, url: str, change: str, expected: str) -> None:
    several = several_measurements(3)
    store.add_all(several)
    damage(url, change)
    with pytest.raises(InvalidInputError) as caught:
        list(store.measurements())
    assert str(caught.value).startswith(f"the store {store.location}: the row '")
    assert expected in str(caught.value)
    with pytest.raises(InvalidInputError, match=several[1].key[:12]):
        store.find(several[1].key)


@pytest.mark.parametrize("value", ["'[1, 2'", "x'00ff'", "'[NaN]'", "7"])
def test_what_is_no_json_in_sqlite(tmp_path: Path, value: str) -> None:
    url = str(tmp_path / "results.sqlite")
    with open_store(url) as store:
        store.add(some_measurement())
        damage(url, f"UPDATE measurement SET nanoseconds = {value}")
        with pytest.raises(InvalidInputError, match=f"the row '{some_measurement().key[:12]}' is damaged"):
            list(store.measurements())


def test_a_store_that_goes_away(store: Store, url: str) -> None:
    damage(url, "DROP TABLE measurement")
    for call in (lambda: store.add(some_measurement()), store.count, lambda: list(store.measurements())):
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert str(caught.value).startswith(f"the store {store.location}: ")
        assert "\n" not in str(caught.value)
