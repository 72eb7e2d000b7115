"""`coarsen results` of remembered choices: lists, shows, forgets, exports and imports what tuning found."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.layer.unit import Row, UnitKey, shelf_folder, write_unit
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice_json import choice_to_json, read_choices
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.remembered_choices import AS_IT_IS, CHOICE, some_choice

Run = Callable[..., Any]
POCL = some_choice(
    kernel="blur", platform="Portable Computing Language", variant=Variant((), (Coarsening(8),)), processes=1
)
CHOICES = [CHOICE, POCL, AS_IT_IS]
KEYS = [choice.key.digest for choice in CHOICES]

ROW = Row("advect", "", b"binary", 2, (64,), (16,), (1024,), (2047,), (64,), (1024,), (4,))


def fill(path: Path, *choices: Any) -> Path:  # noqa: ANN401
    with open_store(str(path)) as opened:
        opened.remembered.put_later(choices)
    return path


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with `CHOICES`, the one that the environment names."""
    path = fill(tmp_path / "store.sqlite", *CHOICES)
    monkeypatch.setenv("COARSEN_STORE", str(path))
    return path


def stored(path: Path) -> set[str]:
    with open_store(str(path)) as opened:
        return set(opened.remembered.keys())


def test_ls_prints_a_table(store: Path, run: Run) -> None:
    outcome = run("results", "ls", "--remembered")
    assert (outcome.code, outcome.err) == (0, "")
    heading, advect, blur, clear, empty, place = outcome.out.splitlines()
    assert heading.split() == ["key", "kernel", "device", "sizes", "choice", "speed-up", "found"]
    for line, choice in zip((advect, blur, clear), CHOICES, strict=True):
        assert line.startswith(f"{choice.key.digest[:12]}  {choice.key.kernel} ")
        assert f"  {choice.key.device} ({choice.key.platform})  " in line
        assert line.endswith("  2026-11-20 12:00")
    assert f"  2^10%4x2^8%4/16x16  {CHOICE.variant}" in advect
    assert "  2.50 (2.40 to 2.62)  " in advect
    assert "  factor 8 along dimension 0  " in blur
    assert clear.partition("  2^20%32768/open  ")[2].lstrip().startswith("as it is  ")
    assert "  no significant difference (0.99 to 1.01)  " in clear
    assert (empty, place) == ("", f"3 choices in {store}")


def test_a_tuning_without_a_result_is_listed_as_such(tmp_path: Path, run: Run) -> None:
    without = some_choice(AS_IT_IS, trials=0, seconds=20.0, processes=0, speedup=Speedup(1.0, 1.0, 1.0))
    path = fill(tmp_path / "store.sqlite", without)
    line = run("results", "ls", "--remembered", "--store", path).out.splitlines()[1]
    assert line.partition("  2^20%32768/open  ")[2].split("  ")[0] == "no result in 20 s"
    assert "significant" not in line and "  -  " in line
    shown = run("results", "show", without.key.digest, "--store", path).out
    assert "no result in 20 s" in shown
    assert "processes" not in shown and "leave clear as it is" in shown
    assert run("results", "export", "--remembered", tmp_path / "choices.json", "--store", path).code == 0
    assert read_choices(tmp_path / "choices.json") == [without]


def test_ls_as_json(store: Path, run: Run) -> None:
    found = json.loads(run("results", "ls", "--remembered", "-f", "json").out)
    assert found == {"store": str(store), "remembered": [choice_to_json(choice) for choice in CHOICES]}


@pytest.mark.parametrize(
    ("words", "kernels"),
    [
        (("--kernel", "advect"), ["advect"]),
        (("-k", "adv"), []),
        (("-d", "PORTABLE"), ["blur"]),
        (("--device", "intel", "--kernel", "clear"), ["clear"]),
    ],
)
def test_ls_filters(words: tuple[str, ...], kernels: list[str], store: Path, run: Run) -> None:
    found = json.loads(run("results", "ls", "--remembered", *words, "-f", "json").out)
    assert [choice["kernel"] for choice in found["remembered"]] == kernels


def test_ls_of_an_empty_store(tmp_path: Path, run: Run) -> None:
    path = fill(tmp_path / "empty.sqlite")
    outcome = run("results", "ls", "--remembered", "--store", path)
    assert (outcome.code, outcome.out) == (0, f"0 choices in {path}\n")


def shown(text: str) -> tuple[dict[str, str], list[str]]:
    """The fields of a choice, and the lines to paste."""
    fields, _, paste = text.partition("\n\n")
    lines = (line.split("  ", 1) for line in fields.splitlines())
    return {name: value.strip() for name, value in lines}, paste.splitlines()


def test_show_a_choice(store: Path, run: Run) -> None:
    outcome = run("results", "show", KEYS[0][:10].upper())
    assert (outcome.code, outcome.err) == (0, "")
    found, paste = shown(outcome.out)
    assert found["key"] == KEYS[0]
    assert found["choice"] == str(CHOICE.variant)
    assert found["speedup"] == "2.50 (2.40 to 2.62)"
    assert found["speedup over uncoarsened"] == "1.50 (1.25 to 1.75)"
    assert (found["global size"], found["local size"]) == ("1500 300", "16 16")
    assert (found["processes"], found["trials"], found["seconds"]) == ("2", "57", "18.5")
    assert found["driver version"] == CHOICE.driver_version
    assert found["versions"] == "coarsen=0.1.0 llvmlite=0.45.0"
    assert paste == [
        "coarsen.Program(context, source, factor=(2, 4), dim=(0, 1), stride=(8, 1))",
        "coarsen apply FILE.cl --kernel advect --factor 2 --dim 0 --stride 8 --factor 4 --dim 1 --stride 1",
        "launch it with the original global size and local size 32×8",
    ]


def test_show_a_choice_at_the_programs_own_local_size(store: Path, run: Run) -> None:
    found, paste = shown(run("results", "show", KEYS[1]).out)
    assert found["processes"] == "1"
    assert paste[0] == "coarsen.Program(context, source, factor=8, dim=0)"
    assert paste[-1] == "launch it with the original global and local size"


def test_show_what_is_left_as_it_is(store: Path, run: Run) -> None:
    found, paste = shown(run("results", "show", KEYS[2]).out)
    assert found["choice"] == "as it is"
    assert found["global size"] == "1048576" and "local size" not in found
    assert "speedup over uncoarsened" not in found
    assert paste == ["leave clear as it is"]


def test_show_as_json(store: Path, run: Run) -> None:
    assert json.loads(run("results", "show", KEYS[0], "-f", "json").out) == choice_to_json(CHOICE)


def test_names_are_escaped(store: Path, tmp_path: Path, run: Run) -> None:
    strange = some_choice(kernel="a\x1b[2Jb\n", device="\x07", driver_version="\x1b]0;x")
    fill(store, strange)
    words = (("ls", "--remembered"), ("show", strange.key.digest))
    for outcome in (run("results", *each) for each in words):
        assert not {"\x1b", "\x07"} & set(outcome.out + outcome.err)
        assert r"a\x1b[2Jb\n" in outcome.out + outcome.err


def test_forget_keys(store: Path, run: Run) -> None:
    outcome = run("results", "forget", KEYS[0][:12], KEYS[1], KEYS[0])
    assert (outcome.code, outcome.out, outcome.err) == (0, f"2 choices forgotten in {store}\n", "")
    assert stored(store) == {KEYS[2]}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("--kernel", "advect"), KEYS[1:]),
        (("--device", "portable"), [KEYS[0], KEYS[2]]),
        (("--kernel", "clear", "--device", "xeon"), KEYS[:2]),
        (("--all",), []),
    ],
)
def test_forget_by_filters(words: tuple[str, ...], left: list[str], store: Path, run: Run) -> None:
    outcome = run("results", "forget", *words)
    number = len(KEYS) - len(left)
    said = "1 choice" if number == 1 else f"{number} choices"
    assert (outcome.code, outcome.out) == (0, f"{said} forgotten in {store}\n")
    assert stored(store) == set(left)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kernel", "advct"), "nothing of that is remembered in {store} (did you mean advect?)"),
        (("--kernel", "blur", "-d", "tahiti"), "nothing of that is remembered in {store}"),
        ((), "say what to forget: keys, or --kernel and --device, or --all"),
        (("--all", "--kernel", "blur"), "say what to forget: keys, or --kernel and --device, or --all"),
        ((KEYS[0], "--all"), "say what to forget: keys, or --kernel and --device, or --all"),
        ((KEYS[0], "-d", "x"), "say what to forget: keys, or --kernel and --device, or --all"),
        ((KEYS[0], "%"), "no key begins with '%' in {store}"),
        (("",), "a key has at least one letter; 'coarsen results ls' lists them"),
    ],
)
def test_forgetting_nothing_is_an_error(words: tuple[str, ...], message: str, store: Path, run: Run) -> None:
    outcome = run("results", "forget", *words)
    assert (outcome.code, outcome.out, outcome.error) == (2, "", message.format(store=store))
    assert stored(store) == set(KEYS)


def test_forgetting_where_nothing_is_remembered(tmp_path: Path, run: Run) -> None:
    path = fill(tmp_path / "empty.sqlite")
    outcome = run("results", "forget", "--all", "--store", path)
    assert (outcome.code, outcome.error) == (2, f"nothing of that is remembered in {path}")


def test_the_shelf_is_cleared_where_the_store_is_gone(store: Path, run: Run) -> None:
    shelf = shelf_folder(str(store))

    def put(*kernels: str) -> None:
        for folder in (shelf, shelf.parent / "0.3.9"):
            for kernel in kernels:
                write_unit(folder, UnitKey(kernel.encode(), b"", b""), [replace(ROW, kernel=kernel)])

    def units() -> int:
        return len([*shelf.parent.glob("*/*")])

    put("advect", "gone")
    assert run("results", "forget", "--kernel", "gone").code == 0 and units() == 2
    assert run("results", "forget", "--device", "xeon").code == 0 and units() == 0
    store.unlink()
    put("advect", "blur")
    outcome = run("results", "forget", KEYS[0])
    assert (outcome.code, units()) == (2, 4) and outcome.error.startswith("there is no store at")
    outcome = run("results", "forget", "--kernel", "blur")
    assert outcome.out == f"2 files removed from {shelf.parent}; there is no store at {store}\n"
    assert (outcome.code, units()) == (0, 2)
    assert run("results", "forget", "--all").code == 0 and units() == 0
    outcome = run("results", "forget", "--all")
    assert outcome.code == 2 and outcome.error.startswith("there is no store at") and not store.exists()


def test_a_key_that_several_have(store: Path, run: Run) -> None:
    keys = [some_choice(kernel=f"kernel{number}").key.digest for number in range(17)]
    fill(store, *(some_choice(kernel=f"kernel{number}") for number in range(17)))
    every = sorted([*keys, *KEYS])
    first = next(digit for digit in "0123456789abcdef" if sum(key.startswith(digit) for key in every) > 1)
    found = [key for key in every if key.startswith(first)]
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    expected = f"{len(found)} keys begin with '{first}': "
    for command in ("show", "forget"):
        outcome = run("results", command, first)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.error == expected + ", ".join(key[:12] for key in found[:4]) + more
    assert stored(store) == set(every)


def test_a_damaged_choice_can_be_forgotten(store: Path, run: Run) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE remembered SET trials = -1 WHERE key = ?", (KEYS[0],))
    outcome = run("results", "ls", "--remembered")
    assert outcome.code == 2
    assert f"the remembered choice {KEYS[0][:12]} is damaged" in outcome.error
    assert run("results", "forget", KEYS[0][:12]).code == 0
    assert run("results", "ls", "--remembered").code == 0


def test_export_and_import_lose_nothing(store: Path, tmp_path: Path, run: Run) -> None:
    file, other = tmp_path / "choices.json", tmp_path / "other.sqlite"
    outcome = run("results", "export", "--remembered", file)
    assert (outcome.code, outcome.out, outcome.err) == (0, f"3 choices in {file}\n", "")
    assert read_choices(file) == CHOICES
    first = run("results", "import", file, "--store", other)
    assert (first.code, first.err) == (0, "")
    assert first.out == f"{file}: 3 choices, 3 remembered, 0 no later than what is there\nAll is in {other}\n"
    again = run("results", "import", file, "--store", other)
    assert again.out.splitlines()[0] == f"{file}: 3 choices, 0 remembered, 3 no later than what is there"
    assert stored(other) == stored(store)


def test_export_filters(store: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "choices.json"
    assert run("results", "export", "--remembered", file, "--kernel", "blur").out == f"1 choice in {file}\n"
    assert read_choices(file) == [POCL]


def test_a_damaged_file_stops_the_import_before_it_begins(store: Path, tmp_path: Path, run: Run) -> None:
    good, cut = tmp_path / "good.json", tmp_path / "cut.json"
    run("results", "export", "--remembered", good)
    cut.write_bytes(good.read_bytes()[:-40])
    outcome = run("results", "import", good, cut, "--store", tmp_path / "new.sqlite")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(f"{cut}: not a JSON file")
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ls", "--remembered", "--store", "none.sqlite"), "there is no store at"),
        (("show", "3f", "--store", "none.sqlite"), "there is no store at"),
        (("forget", "--all", "--store", "none.sqlite"), "there is no store at"),
        (("export", "--remembered", "choices.json", "--store", "none.sqlite"), "there is no store at"),
        (("show", "%"), "no key begins with '%' in {folder}/store.sqlite"),
        (
            ("export", "--remembered", "none/choices.json"),
            "none/choices.json: can't be written: No such file or directory",
        ),
        (
            ("export", "--remembered", "choices.json", "-k", "x"),
            "there is no such choice in {folder}/store.sqlite; nothing was",
        ),
        (("import", "none.json"), "none.json: can't be read: No such file or directory"),
        (("export", "c.json", "--remembered", "--preset", "cpu"), "--preset is for rows: leave out --remembered"),
        (
            ("ls", "--remembered", "--store", "mysql://server/rows"),
            "the store is an SQLite file: give its path, not a URL",
        ),
    ],
)
def test_refusals(
    words: tuple[str, ...], message: str, store: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("results", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message.format(folder=tmp_path))
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".sqlite-wal"] == ["store.sqlite"]


def test_without_the_packages(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sqlalchemy" else sys.__spec__)
    for words in (("ls", "--remembered"), ("import", "choices.json"), ("forget", "--all")):
        outcome = run("results", *words)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.error == "the store of results needs more packages: pip install 'coarsen[bench]'"
