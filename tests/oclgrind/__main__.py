"""What Oclgrind finds in the benchmarks, coarsened in every way, against what it finds in the originals.

    python -m tests.oclgrind [--benchmark NAME]

Prints a table, the benchmarks × what they are coarsened by; ends with 1 if anything is found that isn't found in
the original, or if a result is wrong.
"""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from coarsen.variant.coarsening import Level
from tests.oclgrind.benchmark_runs import FACTORS, Run, all_runs, original_of, watched_run
from tests.oclgrind.watch import Findings, simulator

COLUMNS = ("original", *(f"{level} {factor}" for level in Level for factor in FACTORS))


def cell(run: Run, device: DeviceDescription, known: Findings) -> str:
    """What is new in a run, in a few words: "0", a number of findings, "wrong", or the code of a refusal."""
    try:
        outcome = watched_run(run, device)
    except RefusalError as refusal:
        return refusal.code
    new = outcome.findings - known
    for finding, count in new.items():
        print(f"{run}: {count} × {finding}", file=sys.stderr)
    for sentence in outcome.wrong:
        print(f"{run}: {sentence}", file=sys.stderr)
    return "wrong" if outcome.wrong else str(new.total())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oclgrind")
    parser.add_argument("--benchmark", help="only this one")
    chosen = parser.parse_args().benchmark
    device = simulator()
    if device is None:
        print("Oclgrind is not installed, or doesn't work", file=sys.stderr)
        return 4
    print(f"{'benchmark, dimension':24}" + "".join(f"{column:>12}" for column in COLUMNS), flush=True)
    cells: list[str] = []
    runs = (run for run in all_runs() if chosen in (None, run.benchmark))
    for original, group in groupby(runs, key=original_of):
        known = watched_run(original, device).findings
        row = [str(known.total()), *(cell(run, device, known) for run in group)]
        name = f"{original.benchmark}, {original.coarsening.dimension}"
        print(f"{name:24}" + "".join(f"{entry:>12}" for entry in row), flush=True)
        cells += row[1:]
    bad = sum(entry == "wrong" or (entry.isdigit() and entry != "0") for entry in cells)
    print(f"{len(cells)} coarsened runs, {bad} with findings that the original doesn't have or with wrong results")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
