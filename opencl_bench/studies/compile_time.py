"""Time that coarsening takes: `python -m coarsen.opencl_bench.studies.compile_time`, at most three minutes.

Two questions, each answered within this one run, since machines are noisy; the exit status is 1 where a limit is
passed, and the line says so:

1. do analysis, factor 4 and OpenCL C text of mriQ together take no longer than `clang -O2 -S -emit-llvm` takes?
   Beside it, for comparison, the same with the lowering, which runs clang itself.
2. do time, calls of functions and memory grow linearly with instructions × factor, from 250 instructions by 2 to
   2,000 by 32 (`compile_growth.py`)?
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rich.console import Console

from coarsen.frontend.clang import find_clang
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.studies.compile_growth import SECONDS, cells, coarsen_to_text, growth_lines, growth_table
from coarsen.opencl_bench.workloads.lookup import SUITE

KERNEL = "mriQ"
FACTOR = 4
MOST_RATIO = 1.0


def main() -> int:
    """Measure and print; return 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=7, help="timed runs of each step (default 7)")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"for the table of growth (default {SECONDS:g})"
    )
    chosen = parser.parse_args()
    console = Console()
    verdicts = [compare_with_clang(console, chosen.repetitions), show_growth(console, chosen.seconds)]
    return 0 if all(verdicts) else 1


def compare_with_clang(console: Console, repetitions: int) -> bool:
    """Coarsening against clang -O2 on one benchmark, in turns; return True within the limit."""
    benchmark = SUITE[KERNEL]
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    clang, own, whole = [], [], []
    for _ in range(repetitions + 1):
        clang.append(seconds(lambda: run_clang(benchmark.kernel_file)))
        own.append(seconds(lambda: coarsen_to_text(lowered, FACTOR)))
        whole.append(
            seconds(
                lambda: coarsen_to_text(lower(benchmark.code, benchmark.kernel, benchmark.build_options), FACTOR)
            )
        )
    by_clang, by_us, with_lowering = (median(taken[1:]) for taken in (clang, own, whole))
    ratio = by_us / by_clang
    console.print(
        f"{KERNEL}, {lowered.length} instructions; clang -O2 -S -emit-llvm takes {by_clang * 1e3:.1f} ms"
    )
    console.print(f"with the lowering {with_lowering * 1e3:.1f} ms, {with_lowering / by_clang:.2f} of that")
    said = (
        f"analysis + factor {FACTOR} + OpenCL C {by_us * 1e3:.1f} ms, {ratio:.2f} of that (at most {MOST_RATIO:g})"
    )
    return verdict(console, said, keeps=ratio <= MOST_RATIO)


def show_growth(console: Console, most_seconds: float) -> bool:
    """Time, calls and memory over sizes and factors; return True within the limits."""
    found = list(cells(most_seconds))
    console.print(growth_table(found))
    verdicts = [verdict(console, said, keeps=keeps) for said, keeps in growth_lines(found)]
    return all(verdicts)


def verdict(console: Console, said: str, *, keeps: bool) -> bool:
    """Print a sentence with whether its limit is kept, and return that."""
    console.print(f"{said}: {'kept' if keeps else 'LIMIT PASSED'}", highlight=False)
    return keeps


def run_clang(source: Path) -> None:
    """Run clang's own optimiser on a kernel, to LLVM IR text."""
    clang = find_clang()
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "kernel.ll")
        options = ["-x", "cl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-O2", "-S", "-emit-llvm"]
        result = clang.run([*options, *clang.header_options, str(source), "-o", output])
        if result.returncode:
            sys.exit(f"clang can't compile {source}: {result.stderr}")


def seconds(action: Callable[[], object]) -> float:
    """Return the wall-clock time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
