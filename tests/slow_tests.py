"""Which tests `make test` leaves to the gate, by how long they took: `slow_tests.txt`, a test function a line.

A line with a number says that of the function's parameter sets one of so many runs, devices by turns; one without,
that none does. To write the file anew after a gate with `--junit-xml=gate.xml`:

    python -m tests.slow_tests gate.xml
"""

from __future__ import annotations

import functools
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.selection import choose_by_themselves

LISTED = Path(__file__).with_name("slow_tests.txt")
# The limits are shares of what all tests of the gate took together: a busy machine gives the list of a quiet one.
# A function whose tests take longer than this on average is left to the gate: half a second of 5,000.
SHARE = 1e-4
# One that takes as long as this in all, with as many parameter sets, has a sample of them.
SHARE_IN_ALL = 4e-4
PARAMETER_SETS = 6
EVERY = 4
# Of a file in which all are slow a sample of the fastest function stays, unless it takes longer than this.
SHARE_TO_STAY = 4e-3

Times = Mapping[str, Mapping[str, list[float]]]


@functools.cache
def slow_tests() -> dict[str, int]:
    """By test function, of how many parameter sets one runs in `make test`; 0 for none."""
    lines = (line.split() for line in LISTED.read_text().splitlines())
    return {name: int(every) for name, every in ((line[0], line[1] if line[1:] else "0") for line in lines)}


def times_of(junit: Path) -> Times:
    """The seconds of each test, by file and function, in a report of pytest."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in ET.parse(junit).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        times[file][case.get("name", "").split("[")[0]].append(float(case.get("time", "0")))
    return times


def slow_ones(times: Times) -> Iterator[str]:
    """The lines of the file, in order."""
    total = sum(sum(taken) for functions in times.values() for taken in functions.values())
    for file in sorted(times):
        if file not in choose_by_themselves():
            for function, every in sorted(_of_file(times[file], total).items()):
                yield f"{file}::{function}" + (f" {every}" if every else "")


def _of_file(times: Mapping[str, list[float]], total: float) -> dict[str, int]:
    means = {function: sum(taken) / len(taken) for function, taken in times.items()}
    found = {function: 0 for function, mean in means.items() if mean > SHARE * total}
    if found and not any(means[function] > 0.02 for function in means.keys() - found.keys()):
        fastest = min(found, key=means.__getitem__)
        if means[fastest] <= SHARE_TO_STAY * total:
            found[fastest] = EVERY
    for function in times.keys() - found.keys():
        if len(times[function]) >= PARAMETER_SETS and sum(times[function]) > SHARE_IN_ALL * total:
            found[function] = EVERY
    return found


if __name__ == "__main__":
    LISTED.write_text("".join(f"{line}\n" for line in slow_ones(times_of(Path(sys.argv[1])))))
