"""The report at the end of `coarsen run`: a table on standard error (the program has standard output), or JSON."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coarsen.base.files import replace_file
from coarsen.cli.output import counted, json_text, picked
from coarsen.drop_in.launch_table import LaunchRow
from coarsen.drop_in.mode import Otherwise
from coarsen.drop_in.running import RunResult
from coarsen.drop_in.script import Script
from coarsen.errors import NOTE, aligned, printable
from coarsen.tuning.remembered.choice_json import choice_to_json
from coarsen.variant.variant import shape

_log = logging.getLogger("coarsen")

_NUMBERS = ("launches", "saved")
_UNKNOWN = "-"


def print_report(script: Script, otherwise: Otherwise, result: RunResult) -> None:
    """Print the table and what to do next, unless -q was given."""
    if not _log.isEnabledFor(NOTE):
        return
    sys.stdout.flush()
    for line in report_lines(script, otherwise, result):
        sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def report_lines(script: Script, otherwise: Otherwise, result: RunResult) -> Iterator[str]:
    """Return the lines of the report.

    Args:
        script: that was run.
        otherwise: what was done with launches that have no remembered variant.
        result: what came of it.
    """
    rows = result.rows
    yield ""
    if not rows:
        yield f"coarsen: {script} launched no kernel of a program that PyOpenCL made from source"
    else:
        launches, kernels = sum(row.launches for row in rows), len({(row.source, row.kernel) for row in rows})
        yield f"coarsen: {launches} launch{'' if launches == 1 else 'es'} of {counted(kernels, 'kernel')}"
        yield from _table(rows)
        yield from _explanations(result)
    yield from _remembered(result)
    yield from _next(script, otherwise, result)


def _table(rows: Sequence[LaunchRow]) -> Iterator[str]:
    columns = {
        "kernel": [row.kernel for row in rows],
        "device": [f"{row.device} ({row.platform})" for row in rows],
        "launches": [str(row.launches) for row in rows],
        "global size": [_global_size(row) for row in rows],
        "local size": [_UNKNOWN if row.local_size is None else shape(row.local_size) for row in rows],
        "ran": [row.runs for row in rows],
        "speed-up": [_UNKNOWN if row.speedup is None else str(row.speedup) for row in rows],
        "a launch": [_times(row) for row in rows],
        "saved": [_UNKNOWN if row.saved is None else time_text(row.saved * 1e9) for row in rows],
        "why": [row.why for row in rows],
    }
    if len(set(columns["device"])) == 1:
        del columns["device"]
    for name in ("speed-up", "a launch", "saved"):
        if set(columns[name]) == {_UNKNOWN}:
            del columns[name]
    yield from aligned(list(columns), zip(*columns.values(), strict=True), _NUMBERS)


def _explanations(result: RunResult) -> Iterator[str]:
    if any(row.speedup for row in result.rows):
        yield "Speed-ups and times are those that tuning measured, over the launch as the program makes it."
    if result.saved is not None:
        yield f"Saved in all, estimated as launches times the difference: {time_text(result.saved * 1e9)}"


def _remembered(result: RunResult) -> Iterator[str]:
    if result.found:
        yield f"{counted(len(result.found), 'choice')} of this run will be remembered, in {result.store}"
        yield "'coarsen results export FILE --remembered' writes them to a file to ship with the program"


def _next(script: Script, otherwise: Otherwise, result: RunResult) -> Iterator[str]:
    is_settled = all(row.is_settled for row in result.rows)
    if otherwise is not Otherwise.TUNE and not is_settled:
        command = shlex.join(["coarsen", "run", "--tune", *(["-m"] if script.is_module else []), script.name])
        yield f"'{command}{' …' if script.arguments else ''}' searches for what is fastest, and remembers it"


def _global_size(row: LaunchRow) -> str:
    others = f" and {counted(row.other_sizes, 'other')}" if row.other_sizes else ""
    return f"{shape(row.global_size)}{others}"


def _times(row: LaunchRow) -> str:
    return _UNKNOWN if row.nanoseconds is None else " → ".join(map(time_text, row.nanoseconds))


def time_text(nanoseconds: float) -> str:
    """Return a time with its unit: `1.25 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e3:.3g} µs"


_REPORT_FORMAT = 1


def write_report(script: Script, result: RunResult, file: Path) -> None:
    """Write the report in one step. Raises InvalidInputError where that can't be done."""
    replace_file(json_text(report_as_data(script, result)).encode(), file)


def report_as_data(script: Script, result: RunResult) -> dict[str, Any]:
    """Return the report; times are in nanoseconds, and null where they aren't known."""
    return {
        "format": _REPORT_FORMAT,
        "program": script.name,
        "arguments": list(script.arguments),
        "exit_code": result.exit_code,
        "launches": [_row_as_data(row) for row in result.rows],
        "seconds_saved": result.saved,
        "store": result.store,
        "remembered": [choice_to_json(choice) for choice in result.found],
    }


def _row_as_data(row: LaunchRow) -> dict[str, Any]:
    before, after = row.nanoseconds or (None, None)
    return {
        **picked(row, "kernel source device platform size_class global_size local_size other_sizes"),
        **picked(row, "launches runs is_original why speedup"),
        "nanoseconds_before": before,
        "nanoseconds_after": after,
        "seconds_saved": row.saved,
    }
