"""Effect of coarsening on kernels on devices: one curve of speed-ups per kernel, device and dimension."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.base.files import read_file
from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS
from coarsen.models.examples import Curve, CurveKey, best_factor_of


@dataclass(frozen=True)
class CurveData:
    """The curves of a file, the factors that its authors predicted by kernel and device, and remarks on it."""

    curves: tuple[Curve, ...]
    predicted: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def predicted_on(self, device: str) -> dict[str, int]:
        """Return the factors that the authors predicted on a device, by kernel."""
        return {kernel: factor for (kernel, place), factor in self.predicted.items() if place == device}


def merged(parts: Sequence[CurveData]) -> CurveData:
    """Return the curves of several files as one.

    Of a kernel that one file has the curve of and another the best factor, the curve is taken.

    Raises:
        InvalidInputError: two files have the same curve.
    """
    curves: dict[CurveKey, Curve] = {}
    for curve in (curve for part in parts for curve in part.curves):
        known = curves.get(curve.place)
        if known is not None and bool(known.speedup) == bool(curve.speedup):
            raise InvalidInputError(f"{curve.kernel} on {curve.device} is in the data twice")
        if known is None or curve.speedup:
            curves[curve.place] = curve
    predicted = {place: factor for part in parts for place, factor in part.predicted.items()}
    return CurveData(tuple(curves.values()), predicted, tuple(note for part in parts for note in part.notes))


_UNIT = "_ns"
# A picosecond and thirty years: the ratio of two times stays a number that has a logarithm.
_SHORTEST, _LONGEST = 1e-3, 1e18
_BEST_COLUMNS = ("kernel", "device", "best_factor")
_PREDICTED = "predicted_factor"


@dataclass(frozen=True)
class _TableRow:
    """A row's cells by column, and how a message calls it: the file and the row's line in it."""

    place: str
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a cell that must not be empty."""
        if not self.cells[column]:
            raise InvalidInputError(f"{self.place}: the column '{column}' is empty")
        return self.cells[column]

    def factor(self, column: str) -> int:
        """Return a coarsening factor."""
        text = self.cells[column]
        if text not in map(str, FACTORS):
            known = ", ".join(map(str, FACTORS))
            raise InvalidInputError(f"{self.place}: the {column} '{text[:30]}' is none of {known}")
        return int(text)

    def nanoseconds(self, column: str) -> float | None:
        """Return a runtime, None where the cell is empty: the configuration could not run."""
        text = self.cells[column]
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not _SHORTEST <= value <= _LONGEST:
            raise InvalidInputError(f"{self.place}: the {column} '{text[:30]}' is no time above 0")
        return value


def read_table(path: Path) -> CurveData:
    """Return the curves of a table of runtimes or of best factors.

    Raises:
        InvalidInputError: the file can't be read, its columns are those of no table, or a row is wrong. The
            message names file and line.
    """
    try:
        text = read_file(path).decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = tuple(column.strip() for column in next(reader, []))
        rows = [_row(path, columns, cells, reader.line_num) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path}: can't be read: {error}") from None
    if not rows:
        raise InvalidInputError(f"{path}: the table has no rows")
    for column in columns:
        if columns.count(column) > 1:
            raise InvalidInputError(f"{path}: the column '{column}' is there twice")
    if {*_BEST_COLUMNS} <= {*columns}:
        return _best_factors(path, columns, rows)
    if {"kernel", "factor"} < {*columns}:
        return _runtimes(path, columns, rows)
    raise InvalidInputError(
        f"{path}: the columns are neither those of runtimes (kernel,factor,DEVICE{_UNIT}), nor of best factors "
        f"({','.join(_BEST_COLUMNS)})"
    )


def _row(path: Path, columns: Sequence[str], cells: Sequence[str], line: int) -> _TableRow:
    place = f"{path}, line {line}"
    if len(cells) != len(columns):
        raise InvalidInputError(f"{place}: {len(cells)} cells under {len(columns)} columns")
    return _TableRow(place, {column: cell.strip() for column, cell in zip(columns, cells, strict=True)})


def _runtimes(path: Path, columns: Sequence[str], rows: Sequence[_TableRow]) -> CurveData:
    timed = [column for column in columns if column not in ("kernel", "factor")]
    for column in timed:
        if not column.removesuffix(_UNIT) or not column.endswith(_UNIT):
            raise InvalidInputError(f"{path}: the column '{column}' is no device's: DEVICE{_UNIT}")
    times: dict[tuple[str, str], dict[int, float | None]] = {}
    for row in rows:
        kernel, factor = row.text("kernel"), row.factor("factor")
        for column in timed:
            known = times.setdefault((kernel, column.removesuffix(_UNIT)), {})
            if factor in known:
                raise InvalidInputError(f"{row.place}: factor {factor} of {kernel} is there twice")
            known[factor] = row.nanoseconds(column)
    return CurveData(tuple(_curves_of_times(path, times)))


def _curves_of_times(path: Path, times: Mapping[tuple[str, str], Mapping[int, float | None]]) -> Iterator[Curve]:
    for (kernel, device), known in times.items():
        measured = {factor: time for factor, time in sorted(known.items()) if time is not None}
        if not measured:
            continue
        if 1 not in measured:
            raise InvalidInputError(f"{path}: {kernel} has no time at factor 1 on {device}")
        speedup = {factor: measured[1] / time for factor, time in measured.items() if factor > 1}
        if speedup:
            yield Curve(kernel, device, 0, None, speedup, best_factor_of(speedup))


def _best_factors(path: Path, columns: Sequence[str], rows: Sequence[_TableRow]) -> CurveData:
    for column in columns:
        if column not in (*_BEST_COLUMNS, _PREDICTED):
            raise InvalidInputError(f"{path}: a table of best factors has no column '{column}'")
    curves: dict[tuple[str, str], Curve] = {}
    predicted: dict[tuple[str, str], int] = {}
    for row in rows:
        place = row.text("kernel"), row.text("device")
        if place in curves:
            raise InvalidInputError(f"{row.place}: {place[0]} on {place[1]} is there twice")
        curves[place] = Curve(*place, 0, None, {}, row.factor("best_factor"))
        if _PREDICTED in columns:
            predicted[place] = row.factor(_PREDICTED)
    return CurveData(tuple(curves.values()), predicted)
