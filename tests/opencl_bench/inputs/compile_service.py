"""The process that compiles, which knows the tests' own benchmarks besides."""

from __future__ import annotations

import sys

from coarsen.tuning.processes import compile_service
from tests.opencl_bench.inputs.own_benchmarks import find_benchmark

if __name__ == "__main__":
    setattr(compile_service, "benchmark_of", find_benchmark)  # noqa: B010 (a checker of types forbids the other)
    sys.exit(compile_service.main())
