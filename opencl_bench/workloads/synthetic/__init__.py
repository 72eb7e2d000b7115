"""Synthetic kernels: drawn from a seed, measured as the benchmarks are, to learn from.

A name, `synthetic-<seed>-<index>`, says all: source, sizes and inputs follow from it, on every machine alike.
"""

from coarsen.opencl_bench.workloads.synthetic.benchmark import (
    synthetic_benchmark,
    synthetic_family,
    synthetic_names,
)

__all__ = ["synthetic_benchmark", "synthetic_family", "synthetic_names"]
