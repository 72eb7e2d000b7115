"""Rows of a replay as Parquet or CSV files, and back."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pyarrow as pa

from coarsen.errors import InvalidInputError
from coarsen.files import read_file, replace_file
from coarsen.opencl_bench.search.replay_rows import COLUMNS, TYPES

PARQUET, CSV = ".parquet", ".csv"


def check_rows_file(path: Path) -> None:
    """Raise InvalidInputError unless the name of a file is one that rows can be in."""
    if path.suffix.lower() not in (PARQUET, CSV):
        raise InvalidInputError(f"{path}: the name of a file of rows ends in {PARQUET} or {CSV}")


def write_rows(rows: pd.DataFrame, path: Path) -> None:
    """Write the rows of a replay, in one step.

    Raises:
        InvalidInputError: another suffix; the file can't be written.
    """
    check_rows_file(path)
    if path.suffix.lower() == CSV:
        data = rows.to_csv(index=False).encode()
    else:
        buffer = io.BytesIO()
        rows.to_parquet(buffer, index=False)
        data = buffer.getvalue()
    replace_file(data, path)


def read_rows(path: Path) -> pd.DataFrame:
    """Read the rows of a replay, as they were written.

    Raises:
        InvalidInputError: another suffix; the file can't be read or is damaged, a column is missing or malformed.
    """
    check_rows_file(path)
    data = io.BytesIO(read_file(path))
    try:
        rows = pd.read_csv(data) if path.suffix.lower() == CSV else pd.read_parquet(data)
        return rows[list(COLUMNS)].astype(TYPES)
    except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
        raise InvalidInputError(f"{path}: has no rows of a replay: {' '.join(str(error).split())}") from None
