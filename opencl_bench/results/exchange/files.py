"""Results in a file of any of the formats, which the file's name tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from coarsen.base.files import replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import read_lines, write_lines
from coarsen.opencl_bench.results.exchange.tables import read_table, write_table
from coarsen.opencl_bench.results.frames import frame
from coarsen.tuning.records.measurement import Measurement

# What makes a spreadsheet compute a cell; an apostrophe keeps it from that.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    {".parquet": read_table, ".jsonl": read_lines}
)
WRITERS: Mapping[str, Callable[[Iterable[Measurement], Path], None]] = MappingProxyType(
    {".parquet": write_table, ".jsonl": write_lines, ".csv": write_csv}
)


def read_results(path: Path) -> list[Measurement]:
    """Return the measurements in a table (.parquet) or lines of JSON (.jsonl).

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
