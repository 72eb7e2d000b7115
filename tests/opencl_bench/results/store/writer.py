"""A process that writes to a store: `python -m tests.opencl_bench.results.store.writer URL FIRST COUNT`.

It says `ready`, waits for a line, opens the store; for each measurement prints the key and whether it was added.
"""

from __future__ import annotations

import sys

from coarsen.tuning.store.database import open_store
from tests.opencl_bench.measurements import several_measurements


def main(url: str, first: int, count: int) -> None:
    several = several_measurements(first + count)[first:]
    print("ready", flush=True)
    sys.stdin.readline()
    with open_store(url) as store:
        for measurement in several:
            added = store.add(measurement)
            print(measurement.key, added, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
