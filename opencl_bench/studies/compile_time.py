"""Time that coarsening takes: `python -m coarsen.opencl_bench.studies.compile_time`, at most three minutes.

Two questions, each answered within this one run, since machines are noisy; the exit status is 1 where a limit is
passed, and the line says so:

1. do analysis, factor 4 and OpenCL C text of mriQ together take no longer than `clang -O2 -S -emit-llvm` takes?
   Beside it, for comparison, the same with the lowering, which runs clang itself.
2. do seconds, and calls of Python's functions, which no other load disturbs, grow linearly with instructions ×
   factor, from 250 instructions by 2 to 2,000 by 32? Linear growth is the power 1, by least squares of logarithms.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import linear_regression, median
from types import FrameType

from rich.console import Console
from rich.table import Table

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.frontend.clang import find_clang
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

KERNEL = "mriQ"
FACTOR = 4
MOST_RATIO = 1.0
INSTRUCTIONS = (250, 500, 1000, 2000)
FACTORS = (2, 4, 8, 16, 32)
# Counting makes the work slower: a row and a column are enough.
COUNTED_INSTRUCTIONS, COUNTED_FACTOR = 500, 8
STATEMENT = 13  # instructions of a statement of the synthetic kernel, about
MOST_POWER = 1.1
SECONDS = 140.0  # for the table of growth
REPETITIONS = 7


def main() -> int:
    """Measure and print; return 1 where a limit is passed."""
    console = Console()
    verdicts = [compare_with_clang(console, REPETITIONS), show_growth(console, SECONDS)]
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
    """Time and calls over sizes and factors; return True within the limits."""
    found = list(cells(most_seconds))
    table = Table("instructions", "factor", "seconds", "calls", title="analysis, replication, clean-up, OpenCL C")
    for each in found:
        table.add_row(
            str(each.instructions),
            str(each.factor),
            f"{each.seconds:.3f}",
            f"{each.calls:,}" if each.calls else "",
        )
    console.print(table)
    costs = {"seconds": attrgetter("seconds"), "calls": attrgetter("calls")}
    verdicts = [len(found) == len(INSTRUCTIONS) * len(FACTORS)]
    for what, cost in costs.items():
        grown = power(found, cost)
        said = "too little was measured" if grown is None else f"{grown:.2f} of instructions × factor"
        keeps = grown is not None and grown <= MOST_POWER
        verdicts.append(
            verdict(console, f"{what} grow with the power {said} (at most {MOST_POWER:g})", keeps=keeps)
        )
    return all(verdicts)


@dataclass(frozen=True, slots=True)
class Cell:
    """The cost of coarsening a kernel of so many instructions by a factor; calls are 0 where not counted."""

    instructions: int
    factor: int
    seconds: float = 0.0
    calls: int = 0

    @property
    def product(self) -> int:
        """Instructions × factor."""
        return self.instructions * self.factor


def cells(most_seconds: float) -> Iterator[Cell]:
    """Measure each kernel at each factor, small ones first, until the time is up."""
    end = time.monotonic() + most_seconds
    for size, factor in sorted(((n, f) for n in INSTRUCTIONS for f in FACTORS), key=math.prod):
        if time.monotonic() < end:
            is_counted = size == COUNTED_INSTRUCTIONS or factor == COUNTED_FACTOR
            yield measured(size, factor, counts_calls=is_counted)


def measured(size: int, factor: int, *, counts_calls: bool) -> Cell:
    """Measure one kernel.

    Args:
        size: of the kernel, in instructions, about.
        factor: to coarsen it by.
        counts_calls: whether to do it once more and count calls.

    Raises:
        CoarsenError: the kernel can't be coarsened so.
    """
    kernel = lower(synthetic_source(max(1, round(size / STATEMENT))))
    taken = seconds(lambda: coarsen_to_text(kernel, factor))
    calls = calls_of(lambda: coarsen_to_text(kernel, factor)) if counts_calls else 0
    return Cell(kernel.length, factor, taken, calls)


def calls_of(work: Callable[[], object]) -> int:
    """Return how many calls of Python's functions some work makes."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def coarsen_to_text(kernel: Kernel, factor: int) -> str:
    """Analysis, replication, clean-up and OpenCL C text of a lowered kernel."""
    return write_opencl_c(run_pipeline(kernel, Variant(coarsenings=(Coarsening(factor),))).kernel).text


def synthetic_source(statements: int) -> str:
    """Return a kernel with straight-line code, divergent branches and uniform loops in turn."""
    lines = []
    for i in range(statements):
        if i % 4 == 0:
            lines.append(
                f"if (data[id + {i}] > {i}) sum += data[id * 3 + {i}]; else sum ^= (sum << {1 + i % 7}) + id;"
            )
            lines.append("for (int j = 0; j < count; ++j) sum += j * data[j];")
        else:
            lines.append(f"sum = sum * {i + 3} + (data[id + {i}] >> {i % 5});")
    body = "\n    ".join(lines)
    return (
        "kernel void synthetic(global int *data, int count) {\n"
        f"    int id = get_global_id(0);\n    int sum = id;\n    {body}\n    data[id] = sum;\n}}\n"
    )


def power(found: Sequence[Cell], cost: Callable[[Cell], float]) -> float | None:
    """Return the power of instructions × factor that a cost grows with; None where too little was measured.

    Args:
        found: the cells.
        cost: of a cell; those of no cost are left out.
    """
    points = [(math.log(each.product), math.log(cost(each))) for each in found if cost(each) > 0]
    if len({product for product, _ in points}) < 3:
        return None
    return linear_regression(*zip(*points, strict=True)).slope


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
