"""`coarsen results`: lists, shows, exports, and imports what is stored."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import read_results
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.records.measurement_json import measurement_to_json
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant_json import variant_to_json
from tests.opencl_bench.measurements import several_measurements, some_measurement

Run = Callable[..., Any]
ROWS = [
    *several_measurements(2),
    some_measurement(seed=7, invalidity=Invalidity.TIMEOUT, reason="took more than 10 times the best"),
    some_measurement(seed=8, invalidity=Invalidity.CONSTRAINTS, reason="64 work-items are too many"),
    some_measurement(benchmark="mt", preset="test", device="cpu-haswell", platform="Portable Computing Language"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with `ROWS`, the one that the environment names."""
    path = tmp_path / "store.sqlite"
    with open_store(str(path)) as opened:
        opened.add_all(ROWS)
    monkeypatch.setenv("COARSEN_STORE", str(path))
    return path


def stored(path: Path) -> set[str]:
    with open_store(str(path)) as opened:
        return {row.key for row in opened.measurements()}


def test_ls_prints_a_table(store: Path, run: Run) -> None:
    outcome = run("results", "ls")
    assert (outcome.code, outcome.err) == (0, "")
    heading, one, other, empty, place = outcome.out.splitlines()
    sgemm, mt = sorted((one, other), key=lambda line: line.startswith("mt "))
    devices = {f"{row.environment.device} ({row.environment.platform})" for row in ROWS}
    assert all(any(device in line for line in (sgemm, mt)) for device in devices)
    assert heading.split()[:7] == ["benchmark", "device", "driver", "form", "preset", "rows", "failed"]
    assert "timeout 1, constraints 1" in sgemm
    assert "  4  " in sgemm and "  1  " in mt
    assert "factor 2 along dimension 0 with stride 8, local size 16×16, -D TILE=16" in sgemm
    assert "2.00 (2.00 to 2.00)" in sgemm
    assert "2027-01-15 08:00" in sgemm and "2026-11-20 12:00" in mt
    assert any(row.key[:12] in sgemm for row in ROWS[:2])
    assert (empty, place) == ("", f"5 rows in {store}")


def test_ls_as_json(store: Path, run: Run) -> None:
    found = json.loads(run("results", "ls", "-f", "json").out)
    assert found["store"] == str(store)
    sgemm, mt = sorted(found["cases"], key=lambda case: case["benchmark"], reverse=True)
    assert (sgemm["rows"], sgemm["failures"]) == (4, {"timeout": 1, "constraints": 1})
    assert (mt["rows"], mt["failures"], mt["preset"]) == (1, {}, "test")
    assert mt["best"]["key"] == ROWS[4].key
    assert mt["best"]["configuration"] == variant_to_json(ROWS[4].candidate)
    assert (mt["best"]["speedup"], mt["best"]["significant"]) == (2.0, True)
    assert mt["newest"] == ROWS[4].started_at


@pytest.mark.parametrize(
    ("words", "benchmarks"),
    [
        (("--kernel", "sgemm"), ["sgemm"]),
        (("-d", "PORTABLE"), ["mt"]),
        (("--device", "Xeon"), ["sgemm"]),
        (("--preset", "test"), ["mt"]),
        (("--preset", "paper"), []),
    ],
)
def test_ls_filters(words: tuple[str, ...], benchmarks: list[str], store: Path, run: Run) -> None:
    outcome = run("results", "ls", *words, "-f", "json")
    assert [case["benchmark"] for case in json.loads(outcome.out)["cases"]] == benchmarks


def test_ls_of_an_empty_store(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "empty.sqlite"
    open_store(str(path)).close()
    outcome = run("results", "ls", "--store", path)
    assert (outcome.code, outcome.out) == (0, f"0 rows in {path}\n")


def test_show_a_row(store: Path, run: Run) -> None:
    outcome = run("results", "show", ROWS[4].key[:10].upper())
    assert (outcome.code, outcome.err) == (0, "")
    fields, _, paste = outcome.out.partition("\n\n")
    lines = dict(line.split("  ", 1) for line in fields.splitlines())
    found = {name: text.strip() for name, text in lines.items()}
    assert found["key"] == ROWS[4].key
    assert found["candidate"] == str(ROWS[4].candidate)
    assert found["speed-up"] == "2.00 (2.00 to 2.00)"
    assert found["nanoseconds"] == "1 ms, the median of 5 (1 to 1 ms)"
    assert found["size"] == "m=512 n=256 k=128"
    assert found["platform"] == "Portable Computing Language"
    assert found["platform version"] == "OpenCL 3.0 LINUX"
    assert "coarsen.Program(context, source, factor=2, dim=0, stride=8)" in paste
    assert "mt.cl --kernel mysgemmNT --factor 2 --dim 0 --stride 8 -D TILE=16" in paste


def test_show_a_failed_row(store: Path, run: Run) -> None:
    text = run("results", "show", ROWS[2].key).out
    assert "timeout" in text and "took more than 10 times the best" in text and "speed-up" not in text


def test_show_as_json(store: Path, run: Run) -> None:
    assert json.loads(run("results", "show", ROWS[0].key, "-f", "json").out) == measurement_to_json(ROWS[0])


def test_an_unknown_key(store: Path, run: Run) -> None:
    outcome = run("results", "show", "%")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == f"no key begins with '%' in {store}"


def test_an_ambiguous_key(store: Path, run: Run) -> None:
    first = ROWS[0].key[0]
    others = (some_measurement(seed=seed) for seed in range(100, 1000))
    alike = next(row for row in others if row.key.startswith(first))
    with open_store(str(store)) as opened:
        opened.add(alike)
    keys = sorted(key for key in stored(store) if key.startswith(first))
    outcome = run("results", "show", first)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(f"{len(keys)} keys begin with '{first}': ")
    assert all(key[:12] in outcome.error for key in keys[:1])
    assert run("results", "show", "").error == "a key has at least one letter; 'coarsen results ls' lists them"


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_export_and_import_lose_nothing(suffix: str, store: Path, tmp_path: Path, run: Run) -> None:
    file, other = tmp_path / f"rows{suffix}", tmp_path / "other.sqlite"
    outcome = run("results", "export", file)
    assert (outcome.code, outcome.out, outcome.err) == (0, f"5 rows in {file}\n", "")
    assert {row.key: row for row in read_results(file)} == {row.key: row for row in ROWS}
    first = run("results", "import", file, "--store", other)
    assert first.out == f"{file}: 5 rows, 5 new, 0 there already\nAll is in {other}\n"
    again = run("results", "import", file, "--store", other)
    assert (again.code, again.out.splitlines()[0]) == (0, f"{file}: 5 rows, 0 new, 5 there already")
    assert stored(other) == stored(store)


def test_export_filters(store: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "rows.jsonl"
    assert run("results", "export", file, "--kernel", "mt").out == f"1 row in {file}\n"
    assert read_results(file) == [ROWS[4]]


def test_import_of_several_files(tmp_path: Path, run: Run) -> None:
    with LineFile(tmp_path / "pack.jsonl") as lines:
        for row in ROWS[:3]:
            lines.add(row)
    with open_store(str(tmp_path / "a.sqlite")) as opened:
        opened.add_all(ROWS[2:])
    run("results", "export", tmp_path / "rows.parquet", "--store", tmp_path / "a.sqlite")
    outcome = run(
        "results", "import", tmp_path / "pack.jsonl", tmp_path / "rows.parquet", "--store", tmp_path / "b.sqlite"
    )
    assert [line.partition(": ")[2] for line in outcome.out.splitlines()[:2]] == [
        "3 rows, 3 new, 0 there already",
        "3 rows, 2 new, 1 there already",
    ]
    assert stored(tmp_path / "b.sqlite") == {row.key for row in ROWS}


def test_a_damaged_file_stops_the_import_before_it_begins(store: Path, tmp_path: Path, run: Run) -> None:
    run("results", "export", tmp_path / "rows.parquet")
    (tmp_path / "damaged.json").write_text("{")
    words = (tmp_path / "rows.parquet", tmp_path / "damaged.json", "--store", tmp_path / "new.sqlite")
    outcome = run("results", "import", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(f"{tmp_path / 'damaged.json'}: not a JSON file")
    assert not (tmp_path / "new.sqlite").exists()


def test_merge(store: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.sqlite"
    extra = some_measurement(seed=99)
    with open_store(str(other)) as opened:
        opened.add_all([ROWS[0], extra])
    outcome = run("results", "import", other)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{other}: 2 rows, 1 new, 1 there already\nAll is in {store}\n"
    assert stored(store) == {row.key for row in (*ROWS, extra)}
    assert stored(other) == {ROWS[0].key, extra.key}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ls", "--store", "none.sqlite"), "there is no store at"),
        (("show", "3f", "--store", "none.sqlite"), "there is no store at"),
        (("import", "none.sqlite"), "there is no store at"),
        (("import", "store.sqlite"), "{folder}/store.sqlite can't be merged with itself"),
        (("export", "rows.txt"), "rows.txt: the name of a results file ends in .parquet, .jsonl or .csv"),
        (("export", "none/rows.csv"), "none/rows.csv: can't be written: No such file or directory"),
        (("export", "rows.csv", "--preset", "paper"), "there is no such row in {folder}/store.sqlite; nothing"),
        (("import", "none.json"), "none.json: can't be read: No such file or directory"),
        (("import", "rows.xls"), "rows.xls: the name of a results file ends in"),
        (("import",), "coarsen results import takes files, or other stores"),
        (("show",), "coarsen results show takes one KEY or FILE, not 0"),
        (("show", "a", "b"), "coarsen results show takes one KEY or FILE, not 2"),
        (("ls", "a"), "coarsen results ls takes nothing else, not 1"),
        (("list",), "results has no action 'list'"),
        (("ls", "--all"), "--all is not for 'coarsen results ls'"),
        (("import", "x.csv", "-d", "pocl"), "--device is not for 'coarsen results import'"),
        (("ls", "--store", "mysql://server/rows"), "the store is an SQLite file: give its path, not a URL"),
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


def test_a_database_that_is_no_store(tmp_path: Path, run: Run) -> None:
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be looked at as one\n" * 20)
    outcome = run("results", "ls", "--store", tmp_path / "text.sqlite")
    assert (outcome.code, outcome.out) == (2, "")
    assert "text.sqlite" in outcome.error
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("create table measurement (x integer)")
    outcome = run("results", "ls", "--store", tmp_path / "other.sqlite")
    assert (outcome.code, outcome.out) == (2, "")
    assert "other.sqlite" in outcome.error


def test_without_the_packages(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sqlalchemy" else sys.__spec__)
    for words in (("ls",), ("import", "rows.json"), ("import", store)):
        outcome = run("results", *words)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.error == "the store of results needs more packages: pip install 'coarsen[bench]'"


def test_listing_is_light(store: Path) -> None:
    code = (
        "import sys; from coarsen.cli.main import main; assert main(['results', 'ls', '-q']) == 0\n"
        "print([name for name in ('pandas', 'matplotlib', 'pyarrow', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
