"""Parquet and CSV tables: lossless, for other programs to read, and damage is one clear line."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.tables import (
    COLUMNS,
    LEFT_OUT,
    read_table,
    write_compact_table,
    write_table,
)
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.records.measurement_json import BESIDE
from tests.opencl_bench.measurements import measurements, some_measurement

ENDINGS = [some_measurement(invalidity=ending) for ending in Invalidity]
FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", "'", "'=1")
SUFFIXES = (".parquet", ".csv")
every_format = pytest.mark.parametrize("suffix", SUFFIXES)


@every_format
@settings(max_examples=40)
@given(rows=st.lists(measurements(), max_size=3))
def test_round_trips_lose_nothing(
    suffix: str, rows: list[Measurement], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("table") / f"rows{suffix}"
    write_table(rows, path)
    assert read_table(path) == rows


@settings(max_examples=20)
@given(rows=st.lists(measurements(), max_size=3))
def test_compact_tables_lose_times_beside_alone(
    rows: list[Measurement], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("table") / "rows.parquet"
    write_compact_table(rows, path)
    read = read_table(path)
    without: dict[str, Any] = dict.fromkeys(BESIDE, ())
    assert read == [replace(row, **without) for row in rows]
    assert [row.key for row in read] == [row.key for row in rows]


def test_compact_tables_are_small(tmp_path: Path) -> None:
    draw, path = random.Random(0), tmp_path / "rows.parquet"
    rows = []
    for number in range(4000):
        usual = 10 ** draw.uniform(4, 7)
        times = tuple(tuple(round(usual * draw.uniform(1, 1.05)) for _ in range(3)) for _ in range(2))
        row = some_measurement(nanoseconds=times[0], baseline_nanoseconds=times[1], invocation=0)
        subject = replace(row.subject, preset=f"p{number}")
        rows.append(replace(row, subject=subject, timed_seconds=sum(map(sum, times)) / 1e9))
    write_compact_table(rows, path)
    assert path.stat().st_size < 60 * len(rows)
    assert not {*LEFT_OUT} & {*pyarrow.parquet.read_schema(path).names}
    assert read_table(path) == rows


def test_compact_tables_are_parquet(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"ends in \.parquet"):
        write_compact_table([some_measurement()], tmp_path / "rows.csv")


@every_format
def test_texts_that_a_table_could_mistake(suffix: str, tmp_path: Path) -> None:
    texts = [
        'a,b;"c"',
        "line\nline",
        "\r",
        "\r\n",
        " ",
        "",
        "null",
        "NaN",
        "=1+1",
        "\ufeffx",
        "×",
        "'",
        "'=",
        "-1",
        "@a",
    ]
    rows = [some_measurement(reason=text, benchmark=text, build_options=(text, text)) for text in texts]
    write_table(rows, tmp_path / f"rows{suffix}")
    assert read_table(tmp_path / f"rows{suffix}") == rows


@every_format
def test_rows_without_a_baseline(suffix: str, tmp_path: Path) -> None:
    rows = [some_measurement(baseline=None), some_measurement()]
    write_table(rows, tmp_path / f"rows{suffix}")
    assert read_table(tmp_path / f"rows{suffix}") == rows


def test_more_repetitions_than_a_usual_cell_holds(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    many = tuple(range(10**9, 10**9 + 20_000))
    row = some_measurement(nanoseconds=many, baseline_nanoseconds=many)
    write_table([row], tmp_path / "rows.csv")
    assert read_table(tmp_path / "rows.csv") == [row]
    assert csv.field_size_limit() == limit


def test_pandas_reads_them(tmp_path: Path) -> None:
    for suffix, read in ((".parquet", pandas.read_parquet), (".csv", pandas.read_csv)):
        write_table(ENDINGS, tmp_path / f"rows{suffix}")
        table = read(tmp_path / f"rows{suffix}")
        assert list(table["invalidity"]) == [*Invalidity]
        assert list(table["key"]) == [row.key for row in ENDINGS]
        assert list(table.columns)[: len(COLUMNS)] == [column.name for column in COLUMNS]
        assert list(table.columns)[len(COLUMNS) :] == (["rows_in_file"] if suffix == ".csv" else [])
        assert list(table["compute_units"]) == [2] * 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "not a table of measurements: there is no column 'key'"),
        (lambda text: "a,b\n1,2\n", "not a table of measurements: there is no column 'key'"),
        (
            lambda text: text.replace(",preset,", ",order,"),
            "not a table of measurements: there is no column 'preset'",
        ),
        (lambda text: text.rstrip().rsplit(",", 10)[0], "row 1 ends before the column 'measure_seconds'"),
        (lambda text: text.rstrip() + ",\r\n", "row 1 has more cells than the first line has columns"),
        (lambda text: text.replace("0.125", "often"), "row 1: the column 'measure_seconds' has the value 'often'"),
        (
            lambda text: text.replace("[1000100,", "[0.5,"),
            "row 1: the field 'nanoseconds' of the measurement must be",
        ),
        (lambda text: text.replace(",cpu,", ",paper,"), "row 1: the measurement's key "),
        (lambda text: text + '"', "not a CSV table of measurements: "),
    ],
)
def test_damaged_csv_is_one_line(change: Callable[[str], str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_table([some_measurement()], path)
    changed = change(path.read_text())
    assert changed != path.read_text()
    path.write_text(changed)
    refused(path, message)


def test_a_csv_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    """Within a row, after the last cell, and between two rows, where only the number of rows can tell."""
    path = tmp_path / "rows.csv"
    write_table(ENDINGS, path)
    whole = path.read_bytes()
    line_ends = [place for place in range(len(whole)) if whole[:place].endswith(b"\r\n")]
    assert len(line_ends) == len(ENDINGS)
    for length in [*range(0, len(whole), 101), *line_ends, *(place - 2 for place in line_ends), len(whole) - 2]:
        path.write_bytes(whole[:length])
        refused(path, "")


def test_a_csv_file_of_old_has_no_number_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    quoted = some_measurement(benchmark="'=")
    write_table([quoted, some_measurement()], path)
    table = pandas.read_csv(path, dtype=str, keep_default_na=False).drop(columns="rows_in_file")
    table.loc[0, "benchmark"] = "'="
    table.drop(columns=["invocation", "clock", *BESIDE]).to_csv(path, index=False)
    assert read_table(path) == [quoted, some_measurement()]
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    refused(path, "the last line, row 2, has no end: the file was cut off")
    path.write_bytes(whole[:-30] + b"\n")
    refused(
        path, f"row 2: the measurement {some_measurement().key[:12]} has a code hash that isn't 64 hexadecimal"
    )


def test_a_csv_file_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_table([], path)
    assert read_table(path) == []
    path.write_text(path.read_text().replace("code_hash", "code_hash,rows_in_file"))
    refused(path, "there are 0 rows, and by the column 'rows_in_file' there were more: the file was cut off")


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_table([some_measurement(benchmark=text, device=text, preset=text) for text in FORMULAS], path)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1\0\0PAR1", b"{}" * 100])
def test_damaged_parquet_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    refused(path, "not a Parquet table of measurements: ")


def test_cut_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_table(ENDINGS, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 20):
        path.write_bytes(whole[:length])
        refused(path, "not a Parquet table of measurements: ")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pandas.DataFrame({"a": [1]}), "not a table of measurements: there is no column 'benchmark'"),
        (pandas.DataFrame({column.name: [1] for column in COLUMNS}), "not a Parquet table of measurements: "),
    ],
)
def test_foreign_parquet_is_refused(table: pandas.DataFrame, message: str, tmp_path: Path) -> None:
    table.to_parquet(tmp_path / "rows.parquet")
    refused(tmp_path / "rows.parquet", message)


def test_csv_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_table(ENDINGS, path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_table(path) == ENDINGS


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"key,\xff\xff\n")
    refused(tmp_path / "rows.csv", "not a CSV table of measurements: ")


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"rows\.xls: a table's name ends in \.parquet or \.csv"):
        write_table(ENDINGS, tmp_path / "rows.xls")
    with pytest.raises(InvalidInputError, match=r"a table's name ends in"):
        read_table(tmp_path / "rows")
    assert list(tmp_path.iterdir()) == []


@every_format
def test_files_that_are_not_there(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: No such file or directory"):
        read_table(tmp_path / f"none{suffix}")
    with pytest.raises(InvalidInputError, match="can't be written: No such file or directory"):
        write_table(ENDINGS, tmp_path / "none" / f"rows{suffix}")


def refused(path: Path, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)
