"""solve_step: unit lower triangular systems of equations with many right-hand sides, a launch per row."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, uniform
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Right-hand sides are along dimension 0; a launch covers the rows below the solved one."""
    order, count = size["order"], size["sides"]
    # Small below the diagonal, so that the solution doesn't grow.
    lower = np.tril(uniform(generator, -1, 1, (order, order)) / np.float32(order), -1) + np.eye(
        order, dtype=np.float32
    )
    sides = uniform(generator, -1, 1, (order, count))

    def reference() -> dict[str, Array]:
        return {"sides": np.linalg.solve(lower.astype(np.float64), sides).astype(np.float32)}

    def launch(solved: int) -> Launch:
        items = covering((count, order - solved - 1), local_size)
        return Launch("solve_step", items, local_size, (*buffers("lower", "sides"), *int32(order, count, solved)))

    return Workload(
        buffers={"lower": lower, "sides": sides},
        launches=tuple(map(launch, range(order - 1))),
        outputs=("sides",),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=1e-5,
    )


BENCHMARK = judge_benchmark(
    "solve_step",
    make_workload,
    {
        "test": Preset({"order": 24, "sides": 37}, (16, 8)),
        "cpu": Preset({"order": 400, "sides": 2001}, (32, 8)),
        "gpu": Preset({"order": 512, "sides": 8001}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
