"""pair_potential: the screened potential of every charge in the field of all."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

SOFTENING = 0.01
FLOAT4_BYTES = 16
ROWS_PER_STEP = 256


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The last group and the last tile are partly empty."""
    count = size["charges"]
    charges = uniform(generator, -1, 1, (count, 4))

    def reference() -> dict[str, Array]:
        exact = charges.astype(np.float64)
        starts = range(0, count, ROWS_PER_STEP)
        return {"potential": np.concatenate([_potential(exact, at) for at in starts]).astype(np.float32)}

    tile = LocalArgument(FLOAT4_BYTES * local_size[0])
    arguments = (*buffers("charges", "potential"), *uint32(count), *float32(SOFTENING), tile)
    return Workload(
        buffers={"charges": charges, "potential": unwritten(count, np.float32)},
        launches=(Launch("pair_potential", covering((count,), local_size), local_size, arguments),),
        outputs=("potential",),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=1e-6 * count,
    )


def _potential(charges: Array, start: int) -> Array:
    """The potential of some charges, from `start` on."""
    apart = charges[start : start + ROWS_PER_STEP, None, :3] - charges[:, :3]
    distance = np.sqrt(np.square(apart).sum(axis=2) + SOFTENING)
    potential: Array = (charges[:, 3] * np.exp(-distance) / distance).sum(axis=1)
    return potential


BENCHMARK = judge_benchmark(
    "pair_potential",
    make_workload,
    {
        "test": Preset({"charges": 301}, (64,)),
        "cpu": Preset({"charges": 5001}, (64,)),
        "gpu": Preset({"charges": 60001}, (128,), feasible=False),
    },
    ((32,), (64,), (128,), (256,)),
)
