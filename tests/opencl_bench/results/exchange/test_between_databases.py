"""`coarsen results` between SQLite and PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.cli.main import main
from coarsen.tuning.store.database import open_store
from tests.opencl_bench.measurements import several_measurements


def test_rows_go_to_postgresql_and_back(
    postgresql_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = several_measurements(3)
    start, end = tmp_path / "start.sqlite", tmp_path / "end.sqlite"
    with open_store(str(start)) as store:
        store.add_all(rows)
    assert main(["results", "import", str(start), "--store", postgresql_database]) == 0
    assert main(["results", "import", postgresql_database, "--store", str(end)]) == 0
    with open_store(str(end)) as store:
        assert list(store.measurements()) == rows
    capsys.readouterr()
    assert main(["results", "ls", "--store", postgresql_database, "--format", "json"]) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert (case["benchmark"], case["rows"]) == ("sgemm", 3)


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"postgresql://somebody:secret@/results?host={tmp_path}"
    assert main(["results", "ls", "--store", url]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("coarsen: error: ")
    assert captured.err.count("\n") == 1 and "secret" not in captured.err
