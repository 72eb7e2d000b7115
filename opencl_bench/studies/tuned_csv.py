"""The rows of the study of tuned kernels as a table in CSV, such as `data/tuned.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from coarsen.files import replace_file
from coarsen.opencl_bench.studies.tuned_rows import AS_IT_IS, KNOWN, LOCAL_SIZE, Row, problem_of, ratio

_OVERS = {"over_own": AS_IT_IS, "over_local_size": LOCAL_SIZE, "of_best_known": KNOWN}
_STARTS = {"start_plain_seconds": "plain", "start_remembered_seconds": "remembered"}


def table_of(rows: Sequence[Row]) -> str:
    """Return a table with a line for each row that counts, sorted by device and kernel.

    Ratios have the median of the processes, and the least and the most beside it; what isn't known is empty.
    """
    lines = [_line(row) for row in rows if not problem_of(row)]
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(lines, key=lambda line: (line["device"], line["kernel"])))
    return text.getvalue()


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write the table to a file, in one step. Raises InvalidInputError."""
    replace_file(table_of(rows).encode(), path)


def _columns() -> list[str]:
    ratios = [name for over in _OVERS for name in (over, f"{over}_least", f"{over}_most")]
    return ["device", "kernel", "preset", "seconds", *ratios, "chosen", "local_size", *_STARTS]


def _line(row: Row) -> dict[str, str]:
    chosen = row["again"][0]
    line = {
        "device": row["device"],
        "kernel": row["kernel"],
        "preset": row["preset"],
        "seconds": f"{row['tuned']['first_seconds']:.1f}",
        "chosen": str(chosen["chosen"]),
        "local_size": "x".join(map(str, chosen["local_size"])),
    }
    for name, over in _OVERS.items():
        line |= _ratios(row, name, over)
    starts = row.get("starts", {})
    return line | {name: f"{starts[way]['seconds']:.3f}" for name, way in _STARTS.items() if way in starts}


def _ratios(row: Row, name: str, over: str) -> dict[str, str]:
    found = ratio(row, over)
    if found is None:
        return {}
    values = {name: found.median, f"{name}_least": found.least, f"{name}_most": found.largest}
    return {column: f"{value:.3f}" for column, value in values.items()}
