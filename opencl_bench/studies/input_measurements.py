"""The full grids of the kernels that adapt: every version on every input, into a store.

python -m coarsen.opencl_bench.studies.input_measurements STORE --device intel [KERNEL …] [--again failed]

What the store has already is not measured again, so what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions
from coarsen.opencl_bench.records.measurement import QUICK
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.observer import Remeasure
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel


def main(words: Sequence[str] | None = None) -> int:
    """Measure kernels on a device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("store")
    parser.add_argument("kernels", nargs="*", help="adaptive-<kernel>; all if none is named")
    parser.add_argument("--device", required=True, help="an index (0:1) or any part of the name")
    parser.add_argument("--again", choices=[*Remeasure], default=Remeasure.NOTHING, help="which stored ones")
    asked = parser.parse_args(words)
    # Processes that compile are started once: each loads clang and LLVM first.
    with CompilePool() as pool:
        for kernel in map(adaptive_kernel, asked.kernels or adaptive()):
            plan = VersionsPlan(
                kernel.name, asked.device, tuple(kernel.listed), kernel.versions, kernel.default, method=QUICK
            )
            with open_store(asked.store) as store:
                done = measure_versions(plan, store, again=Remeasure(asked.again), pool=pool)
            print(
                f"{kernel.name}: {len(done.rows)} rows, {done.measured} measured, {done.seconds:.0f} s", flush=True
            )
            for name, problem in done.problems.items():
                print(f"  {name}: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
