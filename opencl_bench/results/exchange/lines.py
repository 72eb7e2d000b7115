"""Measurements as JSON lines: a file that grows row by row and loses at most the row that was being written.

Needs nothing but Python and NumPy, so that it also serves where a pack is run.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from coarsen.base.files import check_regular, read_file, read_limited, replace_file
from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.records.measurement_json import measurement_from_json, measurement_to_json


def read_lines(path: Path) -> list[Measurement]:
    """Return the measurements of a file of JSON lines, of those with the same key the last.

    A last line without an end was being written when its writer died; it is left out.

    Raises:
        InvalidInputError: the file can't be read, or a line is no measurement; the message says which.
    """
    return list(_rows(read_file(path), path).values())


def write_lines(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements in their order, a line each, in place of a file that may be there.

    Raises:
        InvalidInputError: the file can't be written.
    """
    replace_file(b"".join(map(_line, measurements)), path)


class LineFile:
    """A file of JSON lines that rows are added to, each on the disk before the next is measured.

    Args:
        path: made where it isn't there; otherwise added to.

    Raises:
        InvalidInputError: it can't be read or written, another process is writing to it, or it isn't such a file.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("a+b")
        except OSError as error:
            raise InvalidInputError(f"{path}: can't be written: {error.strerror}") from None
        try:
            check_regular(self._file, path)
            self._lock(path)
            self._rows = self._read(path)
        except InvalidInputError:
            self._file.close()
            raise

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._file.close()

    def find(self, key: str) -> Measurement | None:
        """Return the row of this key, if there is one."""
        return self._rows.get(key)

    def add(self, measurement: Measurement) -> bool:
        """Add a row; False where one with its key was there."""
        if measurement.key in self._rows:
            return False
        self.replace(measurement)
        return True

    def replace(self, measurement: Measurement) -> None:
        """Add a row that counts instead of an earlier one with its key."""
        self._file.write(_line(measurement))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._rows[measurement.key] = measurement

    def _lock(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInputError(f"{path}: another process is writing to it") from None

    def _read(self, path: Path) -> dict[str, Measurement]:
        self._file.seek(0)
        contents = read_limited(self._file, path)
        rows = _rows(contents, path)
        whole = contents.rfind(b"\n") + 1
        if whole < len(contents):
            self._file.truncate(whole)
        return rows


def _line(measurement: Measurement) -> bytes:
    return f"{json.dumps(measurement_to_json(measurement), ensure_ascii=False, separators=(',', ':'))}\n".encode()


def _rows(contents: bytes, path: Path) -> dict[str, Measurement]:
    rows: dict[str, Measurement] = {}
    for number, line in enumerate(contents.split(b"\n")[:-1], start=1):
        try:
            row = measurement_from_json(json.loads(line))
        except (ValueError, InvalidInputError) as error:
            raise InvalidInputError(f"{path}, line {number}: {error}") from None
        rows[row.key] = row
    return rows
