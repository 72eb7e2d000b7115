"""The table of remembered choices, in both databases."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import JSON, text

from coarsen.errors import InvalidInputError
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey
from coarsen.tuning.remembered.choice_json import read_choices, write_choices
from coarsen.tuning.remembered.look_up import (
    COLUMNS,
    JSON_COLUMNS,
    anything_remembered,
    remembered_choice,
)
from coarsen.tuning.store import schema
from coarsen.tuning.store.connection import VERSION_TABLE, engine_of
from coarsen.tuning.store.database import Store, open_store
from coarsen.tuning.store.schema import Filter
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.remembered_choices import AS_IT_IS, CHOICE, some_choice
from tests.opencl_bench.results.store.test_processes import start, writer

POCL = some_choice(device="cpu-haswell", platform="Portable Computing Language", platform_version="PoCL 3.1")
CHOICES = [CHOICE, POCL, AS_IT_IS]
LATER, EARLIER = "2026-11-20T12:00:00.000001+00:00", "2026-11-20T11:59:59.999999+00:00"


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with `CHOICES`."""
    for choice in CHOICES:
        store.remembered.put(choice)
    return store


def execute(url: str, statement: str) -> None:
    with engine_of(Path(url)).begin() as connection:
        connection.execute(text(statement))


def by_key(choices: list[RememberedChoice]) -> list[RememberedChoice]:
    return sorted(choices, key=lambda choice: choice.key.digest)


def test_columns_are_the_fields() -> None:
    key, own = (
        [field.name for field in dataclasses.fields(kind) if field.name != "key"]
        for kind in (RememberedKey, RememberedChoice)
    )
    assert [column.name for column in schema.remembered.c] == ["key", *key, *own] == list(COLUMNS)
    in_json = [column.name for column in schema.remembered.c if isinstance(column.type, JSON)]
    assert sorted(JSON_COLUMNS) == sorted(in_json)


def test_what_is_put_is_found(filled: Store) -> None:
    for choice in CHOICES:
        assert filled.remembered.find(choice.key) == choice
    assert filled.remembered.find(some_choice(kernel="other").key) is None


def test_a_choice_takes_the_place_of_that_of_its_key(filled: Store) -> None:
    for found_at in (EARLIER, LATER):
        new = some_choice(trials=1, found_at=found_at)
        filled.remembered.put(new)
        assert filled.remembered.find(new.key) == new
    assert len(filled.remembered.choices()) == len(CHOICES)


def test_choices_of_files_replace_only_what_was_found_earlier(filled: Store) -> None:
    new = some_choice(kernel="new")
    replacement = some_choice(POCL, found_at=LATER, trials=1)
    table = filled.remembered
    assert table.put_later([some_choice(trials=1), new, replacement, some_choice(AS_IT_IS, found_at=EARLIER)]) == 2
    assert by_key(table.choices()) == by_key([CHOICE, AS_IT_IS, new, replacement])
    assert table.put_later([new, replacement]) == 0


def test_a_tuning_without_a_result_takes_the_place_of_none_that_has_one(store: Store) -> None:
    found = some_choice(AS_IT_IS, found_at=EARLIER)
    without, sooner = some_choice(AS_IT_IS, trials=0, found_at=LATER), some_choice(AS_IT_IS, trials=0)
    assert found.has_result and sooner.found_at < without.found_at and not without.has_result
    table = store.remembered
    for choices, count, kept in (
        ([sooner], 1, sooner),
        ([without], 1, without),
        ([sooner], 0, without),
        ([found], 1, found),
        ([without], 0, found),
    ):
        assert (table.put_later(choices), table.find(found.key)) == (count, kept)


def test_all_of_a_file_or_nothing(filled: Store) -> None:
    with pytest.raises(InvalidInputError):
        filled.remembered.put_later([some_choice(kernel="new"), some_choice(ir_hash="none")])
    assert len(filled.remembered.choices()) == len(CHOICES)


FILTERED = [
    (Filter(kernel="advect"), [CHOICE, POCL]),
    (Filter(kernel="adv"), []),
    (Filter(device="portable"), [POCL]),
    (Filter(device="pocl"), [POCL]),
    (Filter(kernel="clear", device="xeon"), [AS_IT_IS]),
    (Filter(device="%"), []),
    (Filter(key_prefix=CHOICE.key.digest[:20].upper()), [CHOICE]),
    (Filter(key_prefix="_"), []),
    (Filter(), CHOICES),
]


def test_filters(filled: Store) -> None:
    """Of lists, of keys, and of what is forgotten."""
    table = filled.remembered
    for chosen, expected in FILTERED:
        assert by_key(table.choices(chosen)) == by_key(expected)
        assert table.keys(chosen) == sorted(choice.key.digest for choice in expected)
        assert table.forget(chosen) == len(expected)
        assert len(table.choices()) == len(CHOICES) - len(expected)
        assert table.put_later(expected) == len(expected)


def test_forgetting_keys(filled: Store) -> None:
    assert filled.remembered.forget_keys([CHOICE.key.digest, "0" * 64, *("%",) * 600]) == 1
    assert by_key(filled.remembered.choices()) == by_key([POCL, AS_IT_IS])
    assert filled.remembered.kernels() == {"advect": 1, "clear": 1}


def test_measurements_are_left_alone(filled: Store) -> None:
    filled.add(some_measurement())
    assert filled.remembered.forget(Filter()) == len(CHOICES)
    assert list(filled.measurements()) == [some_measurement()]


def test_a_file_takes_choices_to_another_store(filled: Store, tmp_path: Path) -> None:
    write_choices(filled.remembered.choices(), tmp_path / "choices.json")
    with open_store(str(tmp_path / "other.sqlite")) as other:
        assert other.remembered.put_later(read_choices(tmp_path / "choices.json")) == len(CHOICES)
        assert by_key(other.remembered.choices()) == by_key(CHOICES)


def test_a_quick_look(filled: Store, url: str) -> None:
    for choice in CHOICES:
        assert remembered_choice(url, choice.key) == choice
    assert remembered_choice(url, some_choice(kernel="other").key) is None
    assert anything_remembered(url)
    assert anything_remembered(url, "clear")
    assert not anything_remembered(url, "other")
    filled.remembered.forget(Filter())
    assert not anything_remembered(url)


def test_a_look_at_a_store_of_an_older_version_leaves_it_as_it_is(url: str) -> None:
    engine = engine_of(Path(url))
    with engine.begin() as connection:
        VERSION_TABLE.create(connection)
        connection.execute(VERSION_TABLE.insert().values(version_num="0003"))
    assert remembered_choice(url, CHOICE.key) is None
    assert not anything_remembered(url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM schema_version")).scalar_one() == "0003"


def test_a_look_at_an_empty_database_leaves_it_empty(url: str) -> None:
    assert remembered_choice(url, CHOICE.key) is None
    assert not anything_remembered(url)
    with open_store(url) as store:
        assert store.remembered.choices() == []


DAMAGE = {
    "SET kernel = 'other'": "is not that of its content",
    "SET variant = '{}'": "not a configuration",
    "SET found_at = 'noon'": "was found at 'noon'",
    "SET speedup = '[1]'": "is not a JSON object",
}


def test_a_damaged_choice_is_named_and_can_be_forgotten(filled: Store, url: str) -> None:
    key, table = CHOICE.key.digest, filled.remembered
    looks = (table.choices, lambda: table.find(CHOICE.key), lambda: remembered_choice(url, CHOICE.key))
    for change, expected in DAMAGE.items():
        execute(url, f"UPDATE remembered {change} WHERE key = '{key}'")
        for look in looks:
            with pytest.raises(InvalidInputError, match=expected) as caught:
                look()
            found = str(caught.value)
            assert found.startswith(f"the store {filled.location}: the remembered choice {key[:12]} is damaged: ")
            assert found.endswith(f" ('coarsen results forget {key[:12]}' removes it)")
        assert table.forget(Filter(key_prefix=key[:12])) == 1
        assert len(table.choices()) == 2
        table.put(CHOICE)


@pytest.mark.parametrize("value", ["'[1, 2'", "x'00ff'", "7", "'" + "[" * 100_000 + "'"])
def test_what_is_no_json_in_sqlite(tmp_path: Path, value: str) -> None:
    url = str(tmp_path / "results.sqlite")
    with open_store(url) as store:
        store.remembered.put(CHOICE)
        execute(url, f"UPDATE remembered SET variant = {value}")
        for look in (store.remembered.choices, lambda: remembered_choice(url, CHOICE.key)):
            with pytest.raises(InvalidInputError, match="is damaged"):
                look()


def test_two_processes_remember_choices_for_one_key_at_once(url: str) -> None:
    module = "tests.opencl_bench.results.store.remembering"
    with writer(url, 0, 40, module) as one, writer(url, 100, 40, module) as other:
        start(one, other)
        for process in (one, other):
            output, _ = process.communicate(timeout=60)
            assert (process.returncode, output) == (0, "done\n")
    with open_store(url) as store:
        (choice,) = store.remembered.choices()
    assert choice.trials in (39, 139)
    assert remembered_choice(url, choice.key) == choice


def test_nothing_is_made_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("COARSEN_STORE", raising=False)
    nowhere = tmp_path / "missing" / "store.sqlite"
    for place in (None, str(tmp_path / "store.sqlite"), str(nowhere)):
        assert remembered_choice(place, CHOICE.key) is None
        assert not anything_remembered(place)
    assert list(tmp_path.iterdir()) == []


def test_where_a_look_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `open_store` does: to the environment's store, or to the user's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for variable in ("", str(tmp_path / "a store.sqlite"), str(tmp_path / "another.sqlite")):
        monkeypatch.setenv("COARSEN_STORE", variable)
        assert not anything_remembered(None)
        with open_store() as store:
            store.remembered.put(CHOICE)
        assert remembered_choice(None, CHOICE.key) == CHOICE


def test_a_look_leaves_no_files_beside_the_store(tmp_path: Path) -> None:
    url = str(tmp_path / "store.sqlite")
    with open_store(url) as store:
        store.remembered.put(CHOICE)
    assert remembered_choice(url, CHOICE.key) == CHOICE
    assert [path.name for path in tmp_path.iterdir()] == ["store.sqlite"]


def test_a_store_that_can_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(tmp_path / "store.sqlite")
    with open_store(url) as store:
        store.remembered.put(CHOICE)
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    assert remembered_choice(url, CHOICE.key) == CHOICE
    assert [path.name for path in tmp_path.iterdir()] == ["store.sqlite"]


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("no database.sqlite", "file is not a database"),
        ("mysql://me:hidden@server/rows", "the store is an SQLite file: give its path, not a URL (mysql://…)"),
        ("a\0b", "no file can be called"),
        ("x" * 5000, "the store can't be at"),
        (".", "the store must be a file"),
    ],
)
def test_places_that_are_no_store(
    store: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no database.sqlite").write_text("not a database, but long enough to be looked at as one\n" * 20)
    for look in (lambda: remembered_choice(store, CHOICE.key), lambda: anything_remembered(store)):
        with pytest.raises(InvalidInputError) as caught:
            look()
        assert expected in str(caught.value)
        assert "\n" not in str(caught.value) and "hidden" not in str(caught.value)


@pytest.mark.parametrize("is_there", [False, True])
def test_a_look_at_a_file_does_not_load_sqlalchemy(tmp_path: Path, is_there: bool) -> None:
    url = str(tmp_path / "store.sqlite")
    if is_there:
        with open_store(url) as store:
            store.remembered.put(CHOICE)
    code = (
        "import sys\n"
        "from coarsen.tuning.remembered.look_up import anything_remembered, remembered_choice\n"
        "from tests.opencl_bench.remembered_choices import KEY\n"
        f"found = remembered_choice({url!r}, KEY) is not None, anything_remembered({url!r})\n"
        "print(found, [name for name in ('sqlalchemy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4]
    )
    assert done.stdout == f"({is_there}, {is_there}) []\n"
