"""Benchmarks of these tests, by name, in any process."""

from __future__ import annotations

from pathlib import Path

from coarsen.opencl_bench.workloads import lookup
from coarsen.tuning.workload.benchmark import Benchmark
from tests.opencl_bench.steps import STEPS, UNSURE_STEPS

OWN = {each.name: each for each in (STEPS, UNSURE_STEPS)}


def find_benchmark(name_or_path: str | Path) -> Benchmark:
    """As that of the package."""
    return OWN.get(str(name_or_path)) or lookup.find_benchmark(name_or_path)
