"""What the study of tuned kernels prints: a table of its rows, one of their means, and what these lack."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.table import Table

from coarsen.opencl_bench.measure.speedup import median
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

_OVERS = (AS_IT_IS, LOCAL_SIZE, KNOWN)
_HEADINGS = ("over own launch", "over best local size", "share of best known")
_NOTHING = "–"


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
