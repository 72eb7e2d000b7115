"""The rows of the study of tuned kernels, and the ratios that follow from them.

    {"kernel", "device", "preset", "seconds", "known": {…}, "tuned": {…}, "again": [{…}, …], "starts": {…}}

`tuned` is what the process said in which the kernel was tuned, `again` what each of those said that timed the
choice; `seconds` is what was asked for. A process that failed has `failed`, its last words, instead.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError

Row = Mapping[str, Any]

AS_IT_IS, CHOSEN, LOCAL_SIZE, KNOWN = "as it is", "chosen", "best local size", "best known"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratios of several processes: their median, the least and the largest."""

    median: float
    least: float
    largest: float

    def __str__(self) -> str:
        if self.least == self.largest:
            return f"{self.median:.2f}"
        return f"{self.median:.2f} ({self.least:.2f} to {self.largest:.2f})"


def known_label(place: int) -> str:
    """Return what the variant at a place among the best known is called in a row."""
    return f"{KNOWN} {place + 1}"


def ratio(row: Row, over: str) -> Ratio | None:
    """Return how many times as fast the choice is as another kernel, over the processes; None where unknown.

    Args:
        row: of a kernel on a device.
        over: `AS_IT_IS`, `LOCAL_SIZE` or `KNOWN`; of the best known, the fastest here.
    """
    times = [each["nanoseconds"] for each in row["again"] if CHOSEN in each.get("nanoseconds", {})]
    ratios = [_ratios(times, name) for name in _names(times, over)]
    if not ratios:
        return None
    # The fastest of the best known is what the choice is compared with.
    found = min(ratios, key=statistics.median)
    return Ratio(statistics.median(found), min(found), max(found))


def _names(times: Sequence[Mapping[str, float]], over: str) -> list[str]:
    return [name for name in (times[0] if times else {}) if name == over or name.startswith(f"{over} ")]


def _ratios(times: Sequence[Mapping[str, float]], name: str) -> list[float]:
    return [each[name] / each[CHOSEN] for each in times if name in each]


def problem_of(row: Row) -> str:
    """Return why a row counts for nothing, in one line; empty where it counts."""
    for each in (row["tuned"], *row["again"]):
        if "failed" in each:
            return f"failed: {each['failed']}"
        if each["wrong"]:
            return f"WRONG: {'; '.join(each['wrong'])}"
    return "" if row["again"] else "the choice was not timed"


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean; NaN of nothing."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def read_rows(path: Path | None) -> list[Row]:
    """Return the rows of a file; none where there is no file. Raises InvalidInputError where it holds others."""
    if path is None or not path.exists():
        return []
    try:
        rows = json.loads(read_file(path))
    except ValueError:
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "again" in row for row in rows):
        raise InvalidInputError(f"{path} holds no rows of this study; name another file")
    return rows


def write_rows(rows: Sequence[Row], path: Path | None) -> None:
    """Write rows to a file, in one step; nothing without a file. Raises InvalidInputError."""
    if path is not None:
        replace_file(json.dumps(rows, indent=1).encode(), path)
