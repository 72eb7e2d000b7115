"""Results in a file of any of the formats, which the file's name tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.results.exchange.t4 import read_t4, write_t4
from coarsen.opencl_bench.results.exchange.tables import read_table, write_table

Action = TypeVar("Action")
READERS: Mapping[str, Callable[[Path], list[Measurement]]] = MappingProxyType(
    {".json": read_t4, ".parquet": read_table, ".csv": read_table, ".jsonl": read_lines}
)
WRITERS: Mapping[str, Callable[[Iterable[Measurement], Path], None]] = MappingProxyType(
    {".json": write_t4, ".parquet": write_table, ".csv": write_table}
)


def read_results(path: Path) -> list[Measurement]:
    """Return the measurements in a T4 file (.json), a table (.parquet, .csv) or a pack's results (.jsonl).

    Raises:
        InvalidInputError: another suffix; the file can't be read or is damaged. The message names the file.
    """
    return _by_suffix(path, READERS)(path)


def write_results(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements as T4 (.json) or as a table (.parquet, .csv), in one step.

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
