"""The seventeen benchmarks of the suite, with references that are independent of their kernels.

    KERNELS/mt.toml + reference ─▶ driver("mt", …) ─▶ Benchmark

What a description can't say (contents of their own, launches that pass parts of one array) is a driver in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.workload.benchmark import Array, Benchmark, LocalSize, Size, Workload

KERNEL_FOLDER = Path(__file__).parents[2] / "kernels"
"""The package's own kernels: the suite's here, the others with their descriptions in folders."""

Buffers = Mapping[str, Array]


def driver(
    name: str, reference: Callable[[Buffers], Buffers], absolute_tolerance: Callable[[Size], float] | None = None
) -> Benchmark:
    """Return the benchmark that NAME.toml in the kernels' folder describes, with a reference.

    Args:
        name: of the kernel.
        reference: gives the outputs for some buffers, which it leaves alone.
        absolute_tolerance: at some sizes, where it depends on these.
    """
    own = read_benchmark(KERNEL_FOLDER / f"{name}.toml")

    def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
        if own.make_launches is not None:
            # Refuses what the conditions do.
            own.make_launches(size, local_size)
        made = own.make_workload(size, local_size, generator)
        tolerance = made.absolute_tolerance if absolute_tolerance is None else absolute_tolerance(size)
        return replace(made, reference=partial(reference, made.buffers), absolute_tolerance=tolerance)

    return Benchmark(
        name=name,
        dimensions=own.dimensions,
        presets=own.presets,
        make_workload=make_workload,
        local_sizes=own.local_sizes,
    )
