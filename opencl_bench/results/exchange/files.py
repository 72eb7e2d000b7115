"""Results in a file of any of the formats, which the file's name tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import read_lines, write_lines
from coarsen.opencl_bench.results.exchange.tables import read_table, write_table
from coarsen.opencl_bench.results.frames import frame
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.records.measurement_json import measurement_from_json

# The field of a T4 result that has the measurement.
EXTENSION = "coarsen"
# What makes a spreadsheet compute a cell; an apostrophe keeps it from that.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def read_t4(path: Path) -> list[Measurement]:
    """Return the measurements in a T4 file that coarsen up to 0.3 wrote, equal to those written.

    Raises:
        InvalidInputError: the file can't be read, is no T4 file, or is one of another program.
    """
    try:
        document = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {error}") from None
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, list):
        raise InvalidInputError(f"{path}: not a T4 file: it has no list of results")
    return [_measurement(result, f"{path}: result {number}") for number, result in enumerate(results, 1)]


def _measurement(result: object, where: str) -> Measurement:
    if not isinstance(result, Mapping) or EXTENSION not in result:
        raise InvalidInputError(
            f"{where} is of another program: T4 alone says neither on which device nor against which baseline"
        )
    try:
        return measurement_from_json(result[EXTENSION])
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}: {error}") from None


def write_csv(measurements: Iterable[Measurement], path: Path) -> None:
    """Write the columns of `Results.frame` as CSV; an apostrophe precedes what a spreadsheet would compute.

    Raises:
        InvalidInputError: the file can't be written.
    """
    rows = frame(measurements)
    texts = rows.select_dtypes(exclude=["number", "bool"]).columns
    rows[texts] = rows[texts].map(lambda text: f"'{text}" if text.startswith(FORMULA_STARTS) else text)
    replace_file(rows.to_csv(index=False).encode(), path)


Action = TypeVar("Action")
READERS: Mapping[str, Callable[[Path], list[Measurement]]] = MappingProxyType(
    {".parquet": read_table, ".jsonl": read_lines, ".json": read_t4}
)
WRITERS: Mapping[str, Callable[[Iterable[Measurement], Path], None]] = MappingProxyType(
    {".parquet": write_table, ".jsonl": write_lines, ".csv": write_csv}
)


def read_results(path: Path) -> list[Measurement]:
    """Return the measurements in a table (.parquet), lines of JSON (.jsonl) or a T4 file of old (.json).

    Raises:
        InvalidInputError: another suffix; the file can't be read or is damaged. The message names the file.
    """
    return _by_suffix(path, READERS)(path)


def write_results(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements as a table (.parquet), lines of JSON (.jsonl) or for a spreadsheet (.csv), in one step.

    Raises:
        InvalidInputError: another suffix; the file can't be written.
    """
    _by_suffix(path, WRITERS)(measurements, path)


def _by_suffix(path: Path, actions: Mapping[str, Action]) -> Action:
    action = actions.get(path.suffix.lower())
    if action is None:
        *others, last = actions
        raise InvalidInputError(f"{path}: the name of a results file ends in {', '.join(others)} or {last}")
    return action
