"""The report of `coarsen run` as JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from coarsen.cli.output import json_text
from coarsen.drop_in.launch_table import LaunchRow
from coarsen.drop_in.running import RunResult
from coarsen.drop_in.script import Script
from coarsen.files import replace_file
from coarsen.opencl_bench.results.remembered.choice_json import choice_to_json

_FORMAT = 1


def write_report(script: Script, result: RunResult, file: Path) -> None:
    """Write the report in one step. Raises InvalidInputError where that can't be done."""
    replace_file(json_text(report_as_data(script, result)).encode(), file)


def report_as_data(script: Script, result: RunResult) -> dict[str, Any]:
    """Return the report; times are in nanoseconds, and null where they aren't known."""
    return {
        "format": _FORMAT,
        "program": script.name,
        "arguments": list(script.arguments),
        "exit_code": result.exit_code,
        "launches": [_row(row) for row in result.rows],
        "seconds_saved": result.saved,
        "store": result.store,
        "remembered": [choice_to_json(choice) for choice in result.found],
        "recorded": [{**asdict(each), "path": str(each.path)} for each in result.recorded],
        "not_recorded": list(result.not_recorded),
        "launch_list": None if result.launch_list is None else str(result.launch_list),
    }


def _row(row: LaunchRow) -> dict[str, Any]:
    before, after = row.nanoseconds or (None, None)
    return {
        "kernel": row.kernel,
        "source": row.source,
        "device": row.device,
        "platform": row.platform,
        "size_class": row.size_class,
        "global_size": list(row.global_size),
        "local_size": None if row.local_size is None else list(row.local_size),
        "other_sizes": row.other_sizes,
        "launches": row.launches,
        "runs": row.runs,
        "is_original": row.is_original,
        "why": row.why,
        "speedup": None if row.speedup is None else asdict(row.speedup),
        "nanoseconds_before": before,
        "nanoseconds_after": after,
        "seconds_saved": row.saved,
    }
