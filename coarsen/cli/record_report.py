"""The report at the end of `coarsen run --record`: what the program's time goes to, and what to run next."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coarsen.base.files import replace_file
from coarsen.cli.output import counted, json_text, picked
from coarsen.cli.run_report import time_text
from coarsen.drop_in.script import Script
from coarsen.errors import NOTE, aligned, printable
from coarsen.layer.program import RecordedRun
from coarsen.layer.recording import KernelRow
from coarsen.variant.variant import shape

_log = logging.getLogger("coarsen")

_NUMBERS = ("share", "time", "launches")
_UNKNOWN = "-"
# Who has less than this share of the time gains too little by being faster: a kernel, or all of them.
_WORTH_TUNING = 0.05
_MOST_COMMANDS = 5
_MOST_ROWS = 25
_MOST_REASONS = 10
_REPORT_FORMAT = 1


def print_recording(script: Script, run: RecordedRun) -> None:
    """Print the table and what to do next on standard error, unless -q was given."""
    if not _log.isEnabledFor(NOTE):
        return
    for line in recording_lines(script, run):
        sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def recording_lines(script: Script, run: RecordedRun) -> Iterator[str]:
    """Return the lines of the report."""
    recording, rows = run.recording, run.recording.rows
    yield ""
    if not recording.saw_opencl:
        yield (
            f"coarsen: {script} loaded no OpenCL loader that loads layers, so that no kernel was seen: it uses no "
            "OpenCL, or a loader of its own"
        )
    elif not rows:
        yield f"coarsen: {script} launched no kernel"
    else:
        launches, kernels = sum(row.launches for row in rows), len({row.kernel for row in rows})
        total = _total(rows)
        share = f", {total / 1e9 / run.seconds:.0%} of its" if total and run.seconds else " of the program's"
        yield (
            f"coarsen: {launches} launch{'' if launches == 1 else 'es'} of {counted(kernels, 'kernel')}: "
            f"{time_text(total)} on the device{share} {time_text(run.seconds * 1e9)}"
        )
        yield from _table(rows[:_MOST_ROWS], total)
        yield from _others("kernel", rows[_MOST_ROWS:])
        if any(row.nanoseconds is None for row in rows):
            yield "times that aren't known are of queues that the driver can't profile"
    yield from recording.not_recorded[:_MOST_REASONS]
    yield from _others("reason", recording.not_recorded[_MOST_REASONS:])
    yield from _next(run)


def _total(rows: Sequence[KernelRow]) -> float:
    return sum(row.nanoseconds or 0 for row in rows)


def _others(noun: str, others: Sequence[object]) -> Iterator[str]:
    if others:
        yield f"and {counted(len(others), f'other {noun}')}: --report FILE has all"


def _table(rows: Sequence[KernelRow], total: float) -> Iterator[str]:
    columns = {
        "kernel": [row.kernel for row in rows],
        "share": [
            _UNKNOWN if row.nanoseconds is None else f"{row.nanoseconds / (total or 1):.0%}" for row in rows
        ],
        "time": [_UNKNOWN if row.nanoseconds is None else time_text(row.nanoseconds) for row in rows],
        "launches": [str(row.launches) for row in rows],
        "device": [f"{row.device} ({row.platform})" for row in rows],
        "global size": [_global_size(row) for row in rows],
        "local size": [_UNKNOWN if row.local_size is None else shape(row.local_size) for row in rows],
        "can be coarsened": [_answer(row) for row in rows],
        "recorded as": [_UNKNOWN if row.path is None else row.path.name for row in rows],
    }
    if len(set(columns["device"])) == 1:
        del columns["device"]
    yield from aligned(list(columns), zip(*columns.values(), strict=True), _NUMBERS)


def _global_size(row: KernelRow) -> str:
    others = f" and {counted(row.other_sizes, 'other')}" if row.other_sizes else ""
    return f"{shape(row.global_size)}{others}"


def _answer(row: KernelRow) -> str:
    if row.refusal is None:
        return _UNKNOWN
    return f"no: {row.refusal}" if row.refusal else "yes"


def _next(run: RecordedRun) -> Iterator[str]:
    recording, total = run.recording, _total(run.recording.rows)
    worth = [
        row
        for row in recording.rows
        if row.path is not None and not row.refusal and (row.nanoseconds or 0) >= _WORTH_TUNING * total
    ]
    if worth and total / 1e9 < _WORTH_TUNING * run.seconds:
        yield "the kernels take so little of the program's time that faster ones would hardly speed it up"
    if worth:
        yield "what takes most of the kernels' time, to be tuned next:"
    for row in worth[:_MOST_COMMANDS]:
        yield f"  coarsen tune {shlex.quote(str(row.path))} -d {shlex.quote(row.device)}"
    if recording.launch_list is not None:
        folder = shlex.quote(str(recording.launch_list.parent))
        yield f"listed what all launches pass: coarsen tune KERNEL.toml --inputs-from {folder}"


def write_recording(script: Script, run: RecordedRun, file: Path) -> None:
    """Write the report as JSON, in one step. Raises InvalidInputError where that can't be done."""
    replace_file(json_text(recording_as_data(script, run)).encode(), file)


def recording_as_data(script: Script, run: RecordedRun) -> dict[str, Any]:
    """Return the report; times are null where they aren't known."""
    recording = run.recording
    return {
        "format": _REPORT_FORMAT,
        "program": script.name,
        "arguments": list(script.arguments),
        "exit_code": run.exit_code,
        "seconds": run.seconds,
        "saw_opencl": recording.saw_opencl,
        "launches": [
            {
                **picked(row, "kernel device platform size_class global_size local_size other_sizes launches"),
                **picked(row, "nanoseconds refusal byte_count"),
                "path": None if row.path is None else str(row.path),
            }
            for row in recording.rows
        ],
        "not_recorded": list(recording.not_recorded),
        "launch_list": None if recording.launch_list is None else str(recording.launch_list),
    }
