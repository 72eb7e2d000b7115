"""asian_option: payoffs on the mean of a price along random paths."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

PRICE, STRIKE, DRIFT, VOLATILITY = 100.0, 99.0, 0.0002, 0.02


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The paths are rounded up to whole work-groups; seeds are not 0."""
    (paths,) = covering((size["paths"],), local_size)
    steps = size["steps"]
    seeds = generator.integers(1, 2**32, paths, dtype=np.uint32)

    def reference() -> dict[str, Array]:
        return {"payoffs": _payoffs(seeds, steps)}

    arguments = (*buffers("seeds", "payoffs"), *int32(steps), *float32(PRICE, STRIKE, DRIFT, VOLATILITY))
    return Workload(
        buffers={"seeds": seeds, "payoffs": unwritten(paths, np.float32)},
        launches=(Launch("asian_option", (paths,), local_size, arguments),),
        outputs=("payoffs",),
        reference=reference,
        relative_tolerance=1e-4,
        # The strike is taken from a mean of about 100, with a rounding in every step.
        absolute_tolerance=2e-5 * (steps + 10),
    )


def _payoffs(seeds: Array, steps: int) -> Array:
    """The payoffs in double precision; the random numbers are the same."""
    state = seeds.copy()
    price, total = np.full(len(seeds), PRICE), np.zeros(len(seeds))
    for _ in range(steps):
        normal = np.zeros(len(seeds))
        for _ in range(4):
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            normal += (state >> np.uint32(8)) / 2**24 - 0.5
        price *= np.exp(DRIFT + VOLATILITY * np.sqrt(3) * normal)
        total += price
    payoffs: Array = np.maximum(total / steps - STRIKE, 0).astype(np.float32)
    return payoffs


BENCHMARK = judge_benchmark(
    "asian_option",
    make_workload,
    {
        "test": Preset({"paths": 512, "steps": 9}, (64,)),
        "cpu": Preset({"paths": 1 << 16, "steps": 50}, (128,)),
        "gpu": Preset({"paths": 1 << 22, "steps": 100}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
