"""Time that coarsening takes, against clang's: `python -m tests.compile_time`.

Do analysis, factor 4 and OpenCL C text of mriQ together take no longer than `clang -O2 -S -emit-llvm` takes? Both
are timed in turns within this one run, since machines are noisy; beside it, for comparison, the same with the
lowering, which runs clang itself. The exit status is 1 where the limit is passed, and the line says so.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

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
REPETITIONS = 7


def main() -> int:
    """Measure and print; return 1 where the limit is passed."""
    benchmark = SUITE[KERNEL]

    def lowered() -> Kernel:
        return lower(benchmark.code, benchmark.kernel, benchmark.build_options)

    kernel = lowered()
    rounds = [
        (
            seconds(lambda: run_clang(benchmark.kernel_file)),
            seconds(lambda: coarsen_to_text(kernel, FACTOR)),
            seconds(lambda: coarsen_to_text(lowered(), FACTOR)),
        )
        for _ in range(REPETITIONS + 1)
    ]
    # The first round warms up.
    by_clang, by_us, with_lowering = map(median, zip(*rounds[1:], strict=True))
    ratio = by_us / by_clang
    print(f"{KERNEL}, {kernel.length} instructions; clang -O2 -S -emit-llvm takes {by_clang * 1e3:.1f} ms")
    print(f"with the lowering {with_lowering * 1e3:.1f} ms, {with_lowering / by_clang:.2f} of that")
    said = (
        f"analysis + factor {FACTOR} + OpenCL C {by_us * 1e3:.1f} ms, {ratio:.2f} of that (at most {MOST_RATIO:g})"
    )
    print(f"{said}: {'kept' if ratio <= MOST_RATIO else 'LIMIT PASSED'}")
    return 0 if ratio <= MOST_RATIO else 1


def coarsen_to_text(kernel: Kernel, factor: int) -> str:
    """Analysis, replication, clean-up and OpenCL C text of a lowered kernel."""
    return write_opencl_c(run_pipeline(kernel, Variant(coarsenings=(Coarsening(factor),))).kernel).text


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
