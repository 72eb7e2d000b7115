"""What the study of tuned kernels prints and writes: its rows, their means, what these lack; the rows as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from coarsen.base.files import replace_file
from coarsen.opencl_bench.studies.tuned_rows import (
    AS_IT_IS,
    KNOWN,
    LOCAL_SIZE,
    Row,
    geometric_mean,
    problem_of,
    ratio,
)
from coarsen.opencl_bench.workloads.lookup import FURTHER
from coarsen.tuning.measure.speedup import median

_OVERS = (AS_IT_IS, LOCAL_SIZE, KNOWN)
_HEADINGS = ("over own launch", "over best local size", "share of best known")
_NOTHING = "–"
# Of the columns of the CSV.
_RATIOS = {"over_own": AS_IT_IS, "over_local_size": LOCAL_SIZE, "of_best_known": KNOWN}
_STARTS = {"start_plain_seconds": "plain", "start_remembered_seconds": "remembered"}


def table(rows: Sequence[Row]) -> Table:
    """Return a table with a line for each row."""
    shown = Table("device", "kernel", "seconds", *_HEADINGS, "start: plain", "from the store", "chosen")
    for row in rows:
        problem = problem_of(row)
        tuned = row["tuned"]
        shown.add_row(
            row["device"],
            row["kernel"],
            f"{tuned['first_seconds']:.1f}" if "first_seconds" in tuned else _NOTHING,
            *(_NOTHING if problem else str(ratio(row, over) or _NOTHING) for over in _OVERS),
            *(_start(row, way) for way in ("plain", "remembered")),
            problem or _chosen(row),
        )
    return shown


def summary(rows: Sequence[Row]) -> Table:
    """Return a table of geometric means, the least of all, and seconds, for each device and group of kernels."""
    shown = Table("device", "kernels", *_HEADINGS, "least over own launch", "seconds: median", "most")
    for device in dict.fromkeys(row["device"] for row in rows):
        own = [row for row in rows if row["device"] == device and not problem_of(row)]
        groups = {
            "seventeen": [row for row in own if row["kernel"] not in FURTHER],
            "ten": [row for row in own if row["kernel"] in FURTHER],
            "all": own,
        }
        for name, group in groups.items():
            if group and (name != "all" or (groups["seventeen"] and groups["ten"])):
                seconds = [row["tuned"]["first_seconds"] for row in group]
                shown.add_row(
                    device,
                    f"{name}: {len(group)}",
                    *(_mean(group, over) for over in _OVERS),
                    _least(group),
                    f"{median(seconds):.1f}",
                    f"{max(seconds):.1f}",
                )
    return shown


def left_out(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each number that the means lack, and what another local size would give."""
    for row in rows:
        case = f"{row['kernel']} on {row['device']}"
        problem = problem_of(row)
        if problem:
            yield f"left out, {case}: {problem}"
            continue
        yield from (f"{case}: {line}" for line in _warnings(row))
        for over, heading in zip(_OVERS, _HEADINGS, strict=True):
            if ratio(row, over) is None:
                yield f"left out of '{heading}', {case}: no sweep of it is known"
        lost = row["known"].get("lost to the local size")
        if lost is not None and any(each["not_launchable"] for each in row["again"]):
            yield (
                f"{case}: the kernel depends on its work-groups, so only the program's own local size counts; "
                f"in the sweep, the best of all local sizes is {lost:.2f} times as fast as the best of the own one"
            )


def _chosen(row: Row) -> str:
    chosen = row["again"][0]
    size = "×".join(map(str, chosen["local_size"]))
    return f"{chosen['chosen']}; {size}" if size else str(chosen["chosen"])


def _warnings(row: Row) -> list[str]:
    return [line for line in row["tuned"].get("said", ()) if "not tuned" in line]


def _start(row: Row, way: str) -> str:
    starts = row.get("starts", {})
    return f"{starts[way]['seconds']:.2f}" if way in starts else _NOTHING


def _mean(rows: Sequence[Row], over: str) -> str:
    known = [found.median for row in rows if (found := ratio(row, over)) is not None]
    mean = geometric_mean(known)
    if math.isnan(mean):
        return _NOTHING
    return f"{mean:.3f}" if len(known) == len(rows) else f"{mean:.3f} ({len(known)} kernels)"


def _least(rows: Sequence[Row]) -> str:
    known = [(found.median, row["kernel"]) for row in rows if (found := ratio(row, AS_IT_IS)) is not None]
    if not known:
        return _NOTHING
    least, kernel = min(known)
    return f"{least:.3f} ({kernel})"


def csv_of(rows: Sequence[Row]) -> str:
    """Return a table with a line for each row that counts, sorted by device and kernel.

    Ratios have the median of the processes, and the least and the most beside it; what isn't known is empty.
    """
    lines = [_line(row) for row in rows if not problem_of(row)]
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(lines, key=lambda line: (line["device"], line["kernel"])))
    return text.getvalue()


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write the table to a file, in one step. Raises InvalidInputError."""
    replace_file(csv_of(rows).encode(), path)


def _columns() -> list[str]:
    ratios = [name for over in _RATIOS for name in (over, f"{over}_least", f"{over}_most")]
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
    for name, over in _RATIOS.items():
        line |= _ratio_columns(row, name, over)
    starts = row.get("starts", {})
    return line | {name: f"{starts[way]['seconds']:.3f}" for name, way in _STARTS.items() if way in starts}


def _ratio_columns(row: Row, name: str, over: str) -> dict[str, str]:
    found = ratio(row, over)
    if found is None:
        return {}
    values = {name: found.median, f"{name}_least": found.least, f"{name}_most": found.largest}
    return {column: f"{value:.3f}" for column, value in values.items()}
