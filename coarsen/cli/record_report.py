"""The report of `coarsen run --record` and `--tune`: what the program's time goes to, and what was found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coarsen.base.files import replace_file
from coarsen.cli.output import counted, json_text, picked
from coarsen.cli.run_report import print_lines, time_text
from coarsen.errors import aligned
from coarsen.layer.program import RecordedRun
from coarsen.layer.recording import KernelRow
from coarsen.layer.script import Script
from coarsen.layer.tuning import Finding, TunedRun
from coarsen.tuning.remembered.choice_json import choice_to_json
from coarsen.variant.variant import shape

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
    print_lines(recording_lines(script, run))


def print_tuned(script: Script, run: RecordedRun, tuned: TunedRun) -> None:
    """Print what was found on standard error, unless -q was given."""
    print_lines(tuned_lines(script, run, tuned))


def recording_lines(script: Script, run: RecordedRun) -> Iterator[str]:
    """Return the lines of the report."""
    yield from _heading(script, run)
    recording, rows = run.recording, run.recording.rows
    if rows:
        yield from _table(rows[:_MOST_ROWS], _total(rows))
        yield from _others("kernel", rows[_MOST_ROWS:])
        if any(row.nanoseconds is None for row in rows):
            yield "times that aren't known are of queues that the driver can't profile"
    yield from recording.not_recorded[:_MOST_REASONS]
    yield from _others("reason", recording.not_recorded[_MOST_REASONS:])
    yield from _next(script, run)


def tuned_lines(script: Script, run: RecordedRun, tuned: TunedRun) -> Iterator[str]:
    """Return the lines of the report on what was tuned."""
    yield from _heading(script, run)
    findings = tuned.findings[:_MOST_ROWS]
    if not findings:
        return
    columns = {
        "kernel": [each.row.kernel for each in findings],
        "share": [f"{each.share:.0%}" for each in findings],
        "launches": [str(each.row.launches) for each in findings],
        "global size": [_global_size(each.row) for each in findings],
        "found": [_found(each) for each in findings],
        "speed-up": [_gain(each) for each in findings],
    }
    yield from aligned(list(columns), zip(*columns.values(), strict=True), _NUMBERS)
    yield from _others("kernel", tuned.findings[_MOST_ROWS:])
    yield from run.recording.not_recorded[:_MOST_REASONS]
    faster = [each for each in tuned.findings if each.shelved and each.choice is not None]
    if not faster:
        yield "nothing that was tried is faster: the program is best left as it is"
        return
    saved = sum(each.share * (1 - 1 / each.choice.speedup.ratio) for each in faster if each.choice is not None)
    yield f"the kernels take about {1 - saved:.0%} of their time from now on; run it faster:"
    yield f"  {shlex.join(['coarsen', 'run', *script.words])}"


def _found(finding: Finding) -> str:
    if finding.shelved:
        found = finding.shelved if finding.is_new else f"{finding.shelved} (remembered)"
        return f"{found}; {finding.reason}" if finding.reason else found
    if finding.choice is not None and finding.choice.leaves_as_is:
        return "nothing is faster"
    return f"as it is: {finding.reason}" if finding.reason else "as it is"


def _gain(finding: Finding) -> str:
    return f"{finding.choice.speedup.ratio:.2f}" if finding.shelved and finding.choice is not None else _UNKNOWN


def _heading(script: Script, run: RecordedRun) -> Iterator[str]:
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


def _next(script: Script, run: RecordedRun) -> Iterator[str]:
    recording, total = run.recording, _total(run.recording.rows)
    worth = [
        row
        for row in recording.rows
        if row.path is not None and not row.refusal and (row.nanoseconds or 0) >= _WORTH_TUNING * total
    ]
    if worth and total / 1e9 < _WORTH_TUNING * run.seconds:
        yield "the kernels take so little of the program's time that faster ones would hardly speed it up"
    if worth:
        yield "what takes most of the kernels' time is tuned by:"
        yield f"  {shlex.join(['coarsen', 'run', '--tune', *script.words])}"
        yield "or one by one:"
    for row in worth[:_MOST_COMMANDS]:
        yield f"  coarsen tune {shlex.quote(str(row.path))} -d {shlex.quote(row.device)}"
    if recording.launch_list is not None:
        yield f"listed what all launches pass: {recording.launch_list}"


def write_recording(script: Script, run: RecordedRun, tuned: TunedRun | None, file: Path) -> None:
    """Write the report as JSON, in one step. Raises InvalidInputError where that can't be done."""
    replace_file(json_text(recording_as_data(script, run, tuned)).encode(), file)


def recording_as_data(script: Script, run: RecordedRun, tuned: TunedRun | None = None) -> dict[str, Any]:
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
        "tuned": None if tuned is None else [_finding_as_data(each) for each in tuned.findings],
    }


def _finding_as_data(finding: Finding) -> dict[str, Any]:
    """Return what was found for the launches at the same place of the list."""
    choice = finding.choice
    return {
        **picked(finding, "share is_new reason shelved"),
        "remembered": None if choice is None else choice_to_json(choice),
    }
