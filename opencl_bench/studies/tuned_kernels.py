"""Kernels tuned by the drop-in, from zero knowledge: what it costs, and what it gives.

    python -m coarsen.opencl_bench.studies.tuned_kernels --device pocl --device intel --kernels all -o rows.json

Each kernel is launched by a program of its own, in a new process, with an empty store and empty caches; then from
the store, in as many new processes as asked for. There the kernel as it is, as chosen, at the best uncoarsened
local size and as the best of a sweep takes turns, all launched by the drop-in; of the best known, those count that
it can launch. A ratio is the median of these processes. Kernels that the rows' file has are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs
from rich.console import Console

from coarsen.devices.selection import find_device
from coarsen.errors import CoarsenError
from coarsen.opencl_bench.studies.best_known import KnownBest, known_best, merged, shipped_best
from coarsen.opencl_bench.studies.start_up import starts_of
from coarsen.opencl_bench.studies.tuned_rows import KNOWN, LOCAL_SIZE, Row, problem_of, read_rows, write_rows
from coarsen.opencl_bench.studies.tuned_tables import left_out, summary, table, write_csv
from coarsen.opencl_bench.workloads.lookup import names_of
from coarsen.tuning.processes.device_lock import FOLDER_VARIABLE
from coarsen.tuning.store.place import STORE_VARIABLE

CHILD = "coarsen.opencl_bench.studies.tuned_kernel"
_MOST_SECONDS = 600
# Of the lines on standard error, these are kept; compilers write there too.
_SAID = ("not tuned", "not used", "remembered")
_WIDTH = 160
# Caches of compiled code: those of PyOpenCL, PoCL and this package, of NVIDIA's driver, and of the front end.
_CACHES = ("XDG_CACHE_HOME", "CUDA_CACHE_PATH", "ZIG_GLOBAL_CACHE_DIR")


def run(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Run a kernel in a new process; a failure is an answer that says so."""
    command = [sys.executable, "-m", CHILD, *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_MOST_SECONDS, check=True, env=environment
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return {
            **found,
            "said": [line for line in done.stderr.splitlines() if any(word in line for word in _SAID)],
        }
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        said = str(getattr(error, "stderr", "") or error).strip()
        return {"failed": said.splitlines()[-1] if said else "it said nothing"}


def case(kernel: str, device: str, known: KnownBest, words: argparse.Namespace) -> Row:
    """Tune a kernel on a device, and time what was chosen, and its start, in new processes."""
    of_kernel = known.get(device, {}).get(kernel, {})
    others = {label: of_kernel[label] for label in (LOCAL_SIZE, KNOWN) if label in of_kernel}
    named = [kernel, device, "--preset", words.preset]
    with tempfile.TemporaryDirectory(prefix="coarsen-study-") as folder:
        environment = environment_in(Path(folder))
        tuned = run([*named, "--seconds", str(words.seconds)], environment)
        again = [run([*named, "--others", json.dumps(others)], environment) for _ in range(words.processes)]
        row: Row = {"kernel": kernel, "device": device, "preset": words.preset, "seconds": words.seconds}
        row = {**row, "known": of_kernel, "tuned": tuned, "again": again}
        if words.starts and not problem_of(row):
            starts = starts_of(kernel, device, words.preset, words.starts, Path(folder), environment)
            row = {**row, "starts": starts}
    return row


def environment_in(folder: Path) -> dict[str, str]:
    """Return the environment of processes whose store and caches are in a folder."""
    caches = {name: str(folder / "cache" / name.lower()) for name in _CACHES}
    # These wait for whoever measures on the device, although they have a cache of their own.
    locks = os.environ.get(FOLDER_VARIABLE) or str(platformdirs.user_cache_path("coarsen") / "locks")
    return {**os.environ, **caches, FOLDER_VARIABLE: locks, STORE_VARIABLE: str(folder / "store.sqlite")}


def is_measured(rows: Sequence[Row], kernel: str, device: str, words: argparse.Namespace) -> bool:
    """Return True if rows have a kernel on a device, at these sizes and seconds, and it did not fail."""
    wanted = kernel, device, words.preset, words.seconds
    names = ("kernel", "device", "preset", "seconds")
    return any(tuple(row[name] for name in names) == wanted and not problem_of(row) for row in rows)


def parsed() -> argparse.Namespace:
    """Return the words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", required=True, help="as `coarsen devices` names it")
    parser.add_argument("--kernels", default="seventeen", help="seventeen, ten, all, or names separated by commas")
    parser.add_argument("--preset", default="cpu", help="the sizes: cpu, or gpu")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tuning a kernel")
    parser.add_argument("--processes", type=int, default=3, help="how many new processes time the choice")
    parser.add_argument("--starts", type=int, default=5, help="how often each start is timed; 0 for not at all")
    parser.add_argument(
        "--best-known",
        type=Path,
        action="append",
        default=[],
        help="a file of `studies.best_known`, a store, or results of sweeps, beside the shipped sweeps",
    )
    parser.add_argument("-o", "--output", type=Path, help="a file for the rows, in JSON; what it has is kept")
    parser.add_argument("--csv", type=Path, help="a file for the ratios of all rows, such as data/tuned.csv")
    return parser.parse_args()


def measure(words: argparse.Namespace) -> list[Row]:
    """Return the rows asked for, those of the file first; each is written when it is there."""
    kernels = names_of(words.kernels)
    for device in words.device:
        # It also tells the loader where the drivers are, in the environment that programs inherit.
        find_device(device)
    sources = [known_best(words.device, words.preset, path) for path in words.best_known]
    known = merged([shipped_best(words.device, words.preset), *sources])
    rows = read_rows(words.output)
    for device in words.device:
        for kernel in kernels:
            if not is_measured(rows, kernel, device, words):
                rows = [row for row in rows if (row["kernel"], row["device"]) != (kernel, device)]
                rows.append(case(kernel, device, known, words))
                write_rows(rows, words.output)
    return rows


def main() -> int:
    """Measure, and print tables."""
    words = parsed()
    try:
        rows = measure(words)
        if words.csv:
            write_csv(rows, words.csv)
    except CoarsenError as error:
        print(f"tuned_kernels: error: {error}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    console.print(table(rows))
    console.print(summary(rows))
    for line in left_out(rows):
        console.print(line, markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
