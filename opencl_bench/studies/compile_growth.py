"""Growth of the cost of coarsening with instructions × factor, each kernel and factor in a process of its own.

    seconds     of analysis, replication, clean-up and OpenCL C text
    calls       of Python's functions in them: a count of what is visited, which no other load disturbs
    memory      the most that the process holds above what it held with the lowered kernel

Each grows as a power of instructions × factor: linear growth is the power 1, found by least squares of logarithms.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression
from types import FrameType

from rich.table import Table

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

INSTRUCTIONS = (250, 500, 1000, 2000)
FACTORS = (2, 4, 8, 16, 32)
# Counting makes the work slower: a row and a column are enough.
COUNTED_INSTRUCTIONS, COUNTED_FACTOR = 500, 8
STATEMENT = 13  # instructions of a statement of the synthetic kernel, about
MOST_POWER = 1.1
SECONDS = 140.0
_KIBI = 1024
_STATUS, _FORGET_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Cell:
    """The cost of coarsening one kernel by one factor.

    Attributes:
        instructions: of the lowered kernel.
        factor: it is coarsened by.
        seconds: that it takes.
        mebibytes: the most memory it takes.
        calls: of functions; 0 where they are not counted.
        failed: why there is no cost; empty where there is.
    """

    instructions: int
    factor: int
    seconds: float = 0.0
    mebibytes: float = 0.0
    calls: int = 0
    failed: str = ""

    @property
    def product(self) -> int:
        """Instructions × factor."""
        return self.instructions * self.factor


def cells(seconds: float = SECONDS) -> Iterator[Cell]:
    """Measure each kernel at each factor, small ones first, until the time is up.

    Args:
        seconds: that all of it may take; what is not reached then says so.
    """
    end = time.monotonic() + seconds
    for size, factor in sorted(((n, f) for n in INSTRUCTIONS for f in FACTORS), key=math.prod):
        left = end - time.monotonic()
        yield _in_child(size, factor, left) if left > 1 else Cell(size, factor, failed="time is up")


def _in_child(size: int, factor: int, seconds: float) -> Cell:
    is_counted = size == COUNTED_INSTRUCTIONS or factor == COUNTED_FACTOR
    words = [sys.executable, "-m", __name__, str(size), str(factor), *(["--calls"] if is_counted else [])]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired:
        return Cell(size, factor, failed="time is up")
    except subprocess.CalledProcessError as error:
        said = str(error.stderr).strip().splitlines()
        return Cell(size, factor, failed=said[-1] if said else f"it ended with status {error.returncode}")
    return Cell(**json.loads(done.stdout))


def measured(size: int, factor: int, *, counts_calls: bool) -> Cell:
    """Measure in this process.

    Args:
        size: of the kernel, in instructions, about.
        factor: to coarsen it by.
        counts_calls: whether to do it once more and count calls.

    Raises:
        CoarsenError: the kernel can't be coarsened so.
    """
    kernel = lower(synthetic_source(max(1, round(size / STATEMENT))))
    before = _start_of_peak()
    start = time.perf_counter()
    coarsen_to_text(kernel, factor)
    taken = time.perf_counter() - start
    more = (_kibibytes("VmHWM") - before) / _KIBI
    calls = calls_of(lambda: coarsen_to_text(kernel, factor)) if counts_calls else 0
    return Cell(kernel.length, factor, taken, more, calls)


def _start_of_peak() -> int:
    """Forget the peak of this process's memory so far, which lowering made, and return what it holds, in KiB."""
    _FORGET_PEAK.write_text("5")
    return _kibibytes("VmRSS")


def _kibibytes(name: str) -> int:
    """A size that Linux has of this process, such as `VmHWM`, the peak of its memory."""
    lines = _STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


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


def growth_table(found: Sequence[Cell]) -> Table:
    """Return each cell's cost, and the costs for each instruction × factor."""
    table = Table(title="analysis + replication + clean-up + OpenCL C; in brackets for each instruction × factor")
    for heading in ("instructions", "factor", "seconds", "calls", "MiB"):
        table.add_column(heading, justify="right")
    for each in found:
        table.add_row(str(each.instructions), str(each.factor), *_costs(each))
    return table


def _costs(cell: Cell) -> tuple[str, str, str]:
    if cell.failed:
        return cell.failed, "", ""
    return (
        f"{cell.seconds:.3f} ({cell.seconds / cell.product * 1e6:.0f} µs)",
        f"{cell.calls:,} ({cell.calls / cell.product:.0f})" if cell.calls else "",
        f"{cell.mebibytes:.1f} ({cell.mebibytes * _KIBI / cell.product:.2f} KiB)",
    )


def growth_lines(found: Sequence[Cell]) -> Iterator[tuple[str, bool]]:
    """Yield a sentence for each cost, and whether it keeps to its limit."""
    costs: tuple[tuple[str, Callable[[Cell], float]], ...] = (
        ("seconds grow", lambda cell: cell.seconds),
        ("calls grow", lambda cell: cell.calls),
        ("memory grows", lambda cell: cell.mebibytes),
    )
    for what, cost in costs:
        found_power = power(found, cost)
        if found_power is None:
            yield f"{what}: too little was measured", False
        else:
            limit = f"at most {MOST_POWER:g}"
            yield (
                f"{what} with the power {found_power:.2f} of instructions × factor ({limit})",
                found_power <= MOST_POWER,
            )
    for reason in sorted({each.failed for each in found if each.failed}):
        where = ", ".join(f"{each.instructions} by {each.factor}" for each in found if each.failed == reason)
        yield f"not measured, {reason}: {where}", False


def main() -> int:
    """Measure one cell, as its own process does, and print it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("instructions", type=int)
    parser.add_argument("factor", type=int)
    parser.add_argument("--calls", action="store_true", help="count calls of functions, too")
    chosen = parser.parse_args()
    try:
        print(json.dumps(asdict(measured(chosen.instructions, chosen.factor, counts_calls=chosen.calls))))
    except CoarsenError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
