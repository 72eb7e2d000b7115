"""Results files of every format, told by their names."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.files import READERS, WRITERS, read_results, write_results
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.opencl_bench.results.frames import COLUMNS, frame
from tests.opencl_bench.measurements import several_measurements, some_measurement

ROWS = several_measurements(3)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".JSONL"])
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    write_results(iter(ROWS), tmp_path / f"rows{suffix}")
    assert read_results(tmp_path / f"rows{suffix}") == ROWS


def test_a_packs_results_are_read(tmp_path: Path) -> None:
    with LineFile(tmp_path / "results.jsonl") as lines:
        for row in ROWS:
            lines.add(row)
    assert read_results(tmp_path / "results.jsonl") == ROWS
    assert {*READERS} == {*WRITERS} - {".csv"}


def test_spreadsheets_have_the_columns_of_frames_and_no_formula(tmp_path: Path) -> None:
    texts = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", "plain")
    rows = [some_measurement(benchmark=text, device=text, preset=text) for text in texts]
    write_results(rows, tmp_path / "rows.csv")
    table = pandas.read_csv(tmp_path / "rows.csv")
    assert [*table.columns] == [*COLUMNS]
    assert [*table["benchmark"]] == [*(f"'{text}" for text in texts[:-1]), "plain"]
    assert table["speedup"].tolist() == frame(rows)["speedup"].tolist()
    with pytest.raises(InvalidInputError, match=r"ends in \.parquet or \.jsonl$"):
        read_results(tmp_path / "rows.csv")


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"rows\.txt: the name .* ends in \.parquet, \.jsonl or \.csv$"):
        write_results(ROWS, tmp_path / "rows.txt")
    with pytest.raises(InvalidInputError, match=r"ends in \.parquet or \.jsonl$"):
        read_results(tmp_path / "rows")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", READERS)
def test_a_file_without_an_end_is_refused(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    with pytest.raises(InvalidInputError, match="not a regular file"):
        read_results(tmp_path / f"zero{suffix}")


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_results(ROWS[:1], path)
    with pytest.raises(ZeroDivisionError):
        write_results((ROWS[1 // (1 - number)] for number in (0, 1)), path)
    assert read_results(path) == ROWS[:1]
    write_results(ROWS, path)
    assert read_results(path) == ROWS
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InvalidInputError, match="can't be written: No such file or directory"):
        write_results(ROWS, tmp_path / "none" / "rows.jsonl")
