"""Count what other layouts, orders and places of kernels on records give, on some devices.

    python -m tests.record_layouts --device intel --device pocl --device oclgrind [--kernel NAME …] [--every N]

Prints for each device and kernel: combinations, those with the bits of the kernel as written, those that NumPy's
reference takes within its tolerance, those refused by code, and those wrong; ends with 1 if any is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from coarsen.base.names import did_you_mean
from coarsen.devices.selection import find_device
from coarsen.opencl_bench.workloads.lookup import records
from tests.record_layouts.combinations import combinations
from tests.record_layouts.runs import Bench, Ending, arrays_of, bench_on, run, run_as_written


def counted(bench: Bench, name: str, every: int) -> Counter[str]:
    """Run a kernel's combinations; return how many ended in each way, refusals also by code."""
    as_written = run_as_written(bench, name)
    found: Counter[str] = Counter()
    for number, combination in enumerate(combinations(name, arrays_of(name))):
        if number // 2 % every:
            continue
        result = run(bench, combination, as_written)
        found[result.ending] += 1
        if result.ending is Ending.REFUSED:
            found[f"refused {result.detail}"] += 1
        if result.ending is Ending.WRONG:
            print(f"{combination}: {result.detail}", file=sys.stderr, flush=True)
    return found


def line(name: str, found: Counter[str]) -> str:
    """Write a row of the table."""
    total = sum(found[ending] for ending in Ending)
    codes = ", ".join(
        f"{count} {key.removeprefix('refused ')}"
        for key, count in sorted(found.items())
        if key.startswith("refused ")
    )
    refused = f"{found[Ending.REFUSED]}" + (f" ({codes})" if found[Ending.REFUSED] else "")
    counts = f"{total:5} {found[Ending.SAME_BITS]:10} {found[Ending.TOLERANCE]:17} {found[Ending.WRONG]:6}"
    return f"{name:32} {counts}  {refused}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.record_layouts")
    parser.add_argument("--device", action="append", required=True, help="part of its name; may be repeated")
    parser.add_argument("--kernel", action="append", help="only this one; may be repeated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth combination")
    asked = parser.parse_args(words)
    names = [f"records-{name.removeprefix('records-')}" for name in asked.kernel or records()]
    for name in names:
        if name not in records():
            parser.error(f"no kernel '{name}'{did_you_mean(name, records())}")
    total: Counter[str] = Counter()
    for text in asked.device:
        with bench_on(find_device(text)) as bench:
            print(
                f"{text:32} {'all':>5} {Ending.SAME_BITS:>10} {Ending.TOLERANCE:>17} {'wrong':>6}  refused",
                flush=True,
            )
            for name in names:
                found = counted(bench, name, asked.every)
                print(line(name, found), flush=True)
                total += found
    print(line("in all", total))
    return int(total[Ending.WRONG] > 0)


if __name__ == "__main__":
    sys.exit(main())
