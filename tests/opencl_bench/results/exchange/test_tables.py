"""Parquet tables: lossless, for other programs to read, and damage is one clear line."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.files import (
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


@settings(max_examples=40)
@given(rows=st.lists(measurements(), max_size=3))
def test_round_trips_lose_nothing(rows: list[Measurement], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("table") / "rows.parquet"
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


def test_texts_that_a_table_could_mistake(tmp_path: Path) -> None:
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
    write_table(rows, tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet") == rows


def test_rows_without_a_baseline(tmp_path: Path) -> None:
    rows = [some_measurement(baseline=None), some_measurement()]
    write_table(rows, tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet") == rows


def test_pandas_reads_them(tmp_path: Path) -> None:
    write_table(ENDINGS, tmp_path / "rows.parquet")
    table = pandas.read_parquet(tmp_path / "rows.parquet")
    assert list(table["invalidity"]) == [*Invalidity]
    assert list(table["key"]) == [row.key for row in ENDINGS]
    assert list(table.columns) == [column.name for column in COLUMNS]
    assert list(table["compute_units"]) == [2] * 6


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


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: No such file or directory"):
        read_table(tmp_path / "none.parquet")
    with pytest.raises(InvalidInputError, match="can't be written: No such file or directory"):
        write_table(ENDINGS, tmp_path / "none" / "rows.parquet")


def refused(path: Path, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)
