"""Rows as JSON lines: what was written whole is read, what was not is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import LineFile, read_lines
from tests.opencl_bench.measurements import some_measurement

FIRST = some_measurement()
SECOND = some_measurement(benchmark="nbody", device="Tahiti – “quoted”")


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    with LineFile(tmp_path / "rows.jsonl") as rows:
        assert rows.add(FIRST) and rows.add(SECOND)
        assert not rows.add(FIRST)
        assert rows.find(FIRST.key) == FIRST and rows.find("nothing") is None
    assert read_lines(tmp_path / "rows.jsonl") == [FIRST, SECOND]


def test_of_two_rows_the_last_counts(tmp_path: Path) -> None:
    later = some_measurement(started_at="2026-11-21T00:00:00+00:00")
    assert later.key == FIRST.key
    with LineFile(tmp_path / "rows.jsonl") as rows:
        rows.add(FIRST)
        rows.replace(later)
        assert rows.find(FIRST.key) == later
    assert read_lines(tmp_path / "rows.jsonl") == [later]


def test_a_line_without_an_end_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with LineFile(path) as rows:
        rows.add(FIRST)
        rows.add(SECOND)
    path.write_bytes(path.read_bytes()[:-40])
    assert read_lines(path) == [FIRST]
    with LineFile(path) as rows:
        assert rows.find(SECOND.key) is None
        rows.add(SECOND)
    assert read_lines(path) == [FIRST, SECOND]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with LineFile(path) as rows:
        rows.add(FIRST)
    whole = path.read_bytes()
    for damage in (b"{}\n", b"no JSON\n", b"\xff\n", whole.replace(b'"sgemm"', b'"mt"', 1)):
        path.write_bytes(whole + damage)
        with pytest.raises(InvalidInputError, match=r"rows\.jsonl, line 2: "):
            read_lines(path)
        with pytest.raises(InvalidInputError, match=r"rows\.jsonl, line 2: "):
            LineFile(path)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with LineFile(tmp_path / "rows.jsonl"), pytest.raises(InvalidInputError, match="another process is writing"):
        LineFile(tmp_path / "rows.jsonl")
    LineFile(tmp_path / "rows.jsonl").__exit__()


def test_a_file_that_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read"):
        read_lines(tmp_path / "nowhere.jsonl")
    with pytest.raises(InvalidInputError, match="can't be written"):
        LineFile(tmp_path)
