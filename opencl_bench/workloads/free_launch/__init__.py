"""Kernels of free launch: drawn from a seed, with several legal local sizes each and three sizes, to learn from.

A name, `launch-<seed>-<index>`, determines source, sizes, inputs and mechanism, on every machine alike.
"""

from coarsen.opencl_bench.workloads.free_launch.benchmark import (
    free_launch_benchmark,
    free_launch_kernel,
    free_launch_names,
    is_free_launch,
)

__all__ = ["free_launch_benchmark", "free_launch_kernel", "free_launch_names", "is_free_launch"]
