"""The start of a program with one kernel: PyOpenCL alone, and with `coarsen.Program` from what is remembered.

Each start is a new process, with warm caches. What counts is the time to import, to open the device, to build, and
for the first launch to end; making the buffers doesn't.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.studies.tuned_kernel import options_of
from coarsen.opencl_bench.workloads.lookup import further_benchmark
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.workload.benchmark import (
    Argument,
    Benchmark,
    BufferArgument,
    LocalArgument,
    ScalarArgument,
    Workload,
)

PROGRAM = Path(__file__).with_name("start_up_program.py")
PLAIN, REMEMBERED = "plain", "remembered"
_MOST_SECONDS = 300

Starts = Mapping[str, Any]


def starts_of(
    kernel: str, device: str, preset: str, count: int, folder: Path, environment: Mapping[str, str]
) -> Starts:
    """Return how long a program takes to start, either way.

    Args:
        kernel: of the suite or the further ones.
        device: as `find_device` takes it.
        preset: the sizes.
        count: how many starts of each are timed, after a first one.
        folder: for the program's data.
        environment: of the processes; its store remembers the kernel.

    Returns:
        For `plain` and `remembered`: `seconds`, the median of all starts but the first, and so for each part;
        `first`, the seconds of the first one; or `failed`, the last words of a start that failed.
    """
    benchmark = further_benchmark(kernel)
    data = folder / "program"
    data.mkdir()
    write_program(benchmark, benchmark.workload(preset), device, data)
    runs: dict[str, list[dict[str, float]]] = {PLAIN: [], REMEMBERED: []}
    try:
        for _ in range(count + 1):
            for way, done in runs.items():
                done.append(start(data, way, environment))
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        said = str(getattr(error, "stderr", "") or error).strip()
        return {"failed": said.splitlines()[-1] if said else "it said nothing"}
    return {way: summarised(done) for way, done in runs.items()}


def start(data: Path, way: str, environment: Mapping[str, str]) -> dict[str, float]:
    """Start the program once; return the seconds of each of its parts."""
    command = [sys.executable, "-P", str(PROGRAM), str(data), way, str(time.monotonic_ns())]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_MOST_SECONDS, check=True, env=dict(environment)
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def summarised(runs: Sequence[Mapping[str, float]]) -> Starts:
    """Return the medians of all starts but the first, which fills the caches, and the first's seconds."""
    first, *others = runs
    parts = {part: median([each[part] for each in others]) for part in first}
    return {
        "seconds": median([sum(each.values()) for each in others]),
        "parts": parts,
        "first": sum(first.values()),
    }


def write_program(benchmark: Benchmark, workload: Workload, device: str, folder: Path) -> None:
    """Write what the program needs: its source, options, launches, and buffers as NumPy's files."""
    for name, contents in workload.buffers.items():
        np.save(folder / f"{name}.npy", contents)
    launches = [
        {
            "global": launch.global_size,
            "local": launch.local_size,
            "arguments": [
                _written(argument, f"scalar-{number}-{place}", folder)
                for place, argument in enumerate(launch.arguments)
            ],
        }
        for number, launch in enumerate(workload.launches)
    ]
    described = find_device(device)
    told = {
        "device": [described.platform_name, described.name],
        "source": benchmark.source,
        "options": options_of(benchmark),
        "kernel": benchmark.kernel,
        "buffers": list(workload.buffers),
        "launches": launches,
    }
    (folder / "program.json").write_text(json.dumps(told), encoding="utf-8")


def _written(argument: Argument, name: str, folder: Path) -> tuple[str, str | int]:
    if isinstance(argument, BufferArgument):
        return "buffer", argument.name
    if isinstance(argument, LocalArgument):
        return "local", argument.byte_count
    if isinstance(argument, ScalarArgument):
        np.save(folder / f"{name}.npy", np.asarray(argument.value))
        return "scalar", name
    return "null", 0
