"""Synthetic kernels: drawn from a seed, measured as the benchmarks are, to learn from.

A name, `synthetic-<seed>-<index>`, determines source, sizes and inputs, on every machine alike.
"""

from coarsen.opencl_bench.workloads.synthetic.benchmark import (
    synthetic_benchmark,
    synthetic_family,
    synthetic_names,
)

__all__ = ["synthetic_benchmark", "synthetic_family", "synthetic_names"]
