"""The suite's kernels tuned by the drop-in, from zero knowledge: what it costs, and what it gives.

    python -m coarsen.opencl_bench.studies.tuned_kernels --device pocl --device intel -o rows.json

Each kernel is launched by a program of its own, in a new process, with an empty store; then again, from the store,
in as many new processes as asked for. There the kernel as it is, as chosen, at the best uncoarsened local size and
as the best of a sweep takes turns, all launched by the drop-in. Ratios are geometric means over these processes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.exchange.files import read_results
from coarsen.opencl_bench.results.shipped import shipped_files
from coarsen.opencl_bench.results.speedups import speedup_of
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.variant_json import variant_to_json

CHILD = "coarsen.opencl_bench.studies.tuned_kernel"
AS_IT_IS, CHOSEN, LOCAL_SIZE, KNOWN = "as it is", "chosen", "best local size", "best known"
_MOST_SECONDS = 600


def others_of(kernel: str, measurements: Iterable[Measurement]) -> dict[str, object]:
    """Return the best uncoarsened local size and the best variant of a kernel's sweep, with its own macros."""
    own = SUITE[kernel].own_definitions
    rows = [
        row
        for row in measurements
        if row.subject.benchmark == kernel
        and row.role is Role.COMPARISON
        and row.invalidity is Invalidity.CORRECT
        and row.candidate.definitions == own
    ]
    gains = {row.candidate: gain.ratio for row in rows if (gain := speedup_of(row, interval=False)) is not None}
    if not gains:
        return {}
    launches = [variant for variant in gains if not variant.coarsenings]
    best = max(gains, key=lambda variant: gains[variant])
    found: dict[str, object] = {KNOWN: variant_to_json(best)}
    if launches:
        found[LOCAL_SIZE] = variant_to_json(max(launches, key=lambda variant: gains[variant]))
    return found


def run(kernel: str, device: str, store: Path, words: Sequence[str]) -> dict[str, Any]:
    """Run one kernel in a new process; a failure is a row that says so."""
    command = [sys.executable, "-m", CHILD, kernel, device, "--store", str(store), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MOST_SECONDS, check=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        said = getattr(error, "stderr", "") or str(error)
        return {"kernel": kernel, "device": device, "failed": str(said).strip().splitlines()[-1:]}


def case(kernel: str, device: str, seconds: float, processes: int, others: Mapping[str, object]) -> dict[str, Any]:
    """Tune a kernel on a device, and time what was chosen in new processes."""
    with tempfile.TemporaryDirectory(prefix="coarsen-study-") as folder:
        store = Path(folder) / "store.sqlite"
        tuned = run(kernel, device, store, ["--seconds", str(seconds)])
        again = [run(kernel, device, store, ["--others", json.dumps(others)]) for _ in range(processes)]
    return {"kernel": kernel, "device": device, "tuned": tuned, "again": again}


def ratio(found: Mapping[str, Any], over: str) -> float:
    """Return how many times as fast the choice is as another kernel, over the processes; NaN where unknown."""
    times = [each["nanoseconds"] for each in found["again"] if over in each.get("nanoseconds", {})]
    logarithms = [math.log(each[over] / each[CHOSEN]) for each in times]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else math.nan


def table(cases: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the cases, and the geometric means of its columns."""
    headings = ("seconds", "over the launch", "over local size", "of the best known", "chosen")
    shown = Table("device", "kernel", *headings)
    for found in cases:
        tuned = found["tuned"]
        values = [ratio(found, over) for over in (AS_IT_IS, LOCAL_SIZE, KNOWN)]
        shown.add_row(
            found["device"],
            found["kernel"],
            f"{tuned['first_seconds']:.1f}" if "first_seconds" in tuned else "failed",
            *("–" if math.isnan(value) else f"{value:.2f}" for value in values),
            str(tuned.get("chosen", tuned.get("failed", ""))),
        )
    for device in dict.fromkeys(found["device"] for found in cases):
        own = [found for found in cases if found["device"] == device]
        columns = [[ratio(found, over) for found in own] for over in (AS_IT_IS, LOCAL_SIZE, KNOWN)]
        means = [_geometric_mean([value for value in column if not math.isnan(value)]) for column in columns]
        shown.add_row(device, "geometric mean", "", *(f"{mean:.2f}" for mean in means), "")
    return shown


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", action="append", required=True, help="as `coarsen devices` names it")
    parser.add_argument("--kernels", default=",".join(SUITE), help="names, separated by commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tuning a kernel")
    parser.add_argument("--processes", type=int, default=2, help="how many new processes time the choice")
    parser.add_argument("-o", "--output", type=Path, help="a file for the rows, in JSON")
    words = parser.parse_args()
    cases = []
    for device in words.device:
        measurements = _sweep(device)
        for kernel in words.kernels.split(","):
            cases.append(case(kernel, device, words.seconds, words.processes, others_of(kernel, measurements)))
            if words.output:
                words.output.write_text(json.dumps(cases, indent=1))
    Console().print(table(cases))


def _sweep(device: str) -> list[Measurement]:
    files = shipped_files()
    known = [name for name in (f"larger_{device}", device) if name in files]
    return read_results(files[known[0]]) if known else []


if __name__ == "__main__":
    main()
