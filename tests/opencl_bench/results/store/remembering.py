"""A process that remembers: `python -m tests.opencl_bench.results.store.remembering URL FIRST COUNT`.

It says `ready`, waits for a line, opens the store, puts choices with one key and different numbers of trials.
"""

from __future__ import annotations

import sys

from coarsen.tuning.store.database import open_store
from tests.opencl_bench.remembered_choices import some_choice


def main(url: str, first: int, count: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    with open_store(url) as store:
        for trials in range(first, first + count):
            store.remembered.put(some_choice(trials=trials))
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
