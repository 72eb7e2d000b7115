"""nbody: one time step of gravity among bodies, every body attracted by every other."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import (
    buffers,
    float32,
    round_up,
    uint32,
    uniform,
    unwritten,
)

TIME_STEP = 0.05
SOFTENING_SQUARED = 0.01


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Positions are (x, y, z, mass) in a cube of side 2; the masses add up to about the number 1."""
    bodies = round_up(size["bodies"], local_size[0])
    positions = uniform(generator, -1, 1, (bodies, 4))
    positions[:, 3] = uniform(generator, 0.5, 1.5, bodies) / np.float32(bodies)
    velocities = uniform(generator, -1, 1, (bodies, 4))

    def reference() -> dict[str, Array]:
        return _step(positions.astype(np.float64), velocities.astype(np.float64))

    arguments = (
        *buffers("positions", "velocities"), *uint32(bodies), *float32(TIME_STEP, SOFTENING_SQUARED),
        *buffers("new_positions", "new_velocities"),
    )  # fmt: skip
    return Workload(
        buffers={
            "positions": positions,
            "velocities": velocities,
            "new_positions": unwritten((bodies, 4), np.float32),
            "new_velocities": unwritten((bodies, 4), np.float32),
        },
        launches=(Launch("nbody", (bodies,), local_size, arguments),),
        outputs=("new_positions", "new_velocities"),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=2e-6,
    )


def _step(positions: Array, velocities: Array) -> dict[str, Array]:
    acceleration = np.empty_like(positions[:, :3])
    for body, position in enumerate(positions):
        distance = positions[:, :3] - position[:3]
        weight = positions[:, 3] / (np.sum(distance**2, axis=1) + np.float32(SOFTENING_SQUARED)) ** 1.5
        acceleration[body] = weight @ distance
    new_positions, new_velocities = positions.copy(), velocities.copy()
    new_positions[:, :3] += velocities[:, :3] * TIME_STEP + acceleration * (0.5 * TIME_STEP**2)
    new_velocities[:, :3] += acceleration * TIME_STEP
    return {
        "new_positions": new_positions.astype(np.float32),
        "new_velocities": new_velocities.astype(np.float32),
    }


BENCHMARK = Benchmark(
    name="nbody",
    dimensions=(0,),
    presets={
        "test": Preset({"bodies": 384}, (192,)),
        "cpu": Preset({"bodies": 4096}, (64,)),
        "paper": Preset({"bodies": 131072}, (256,), feasible=False),
        "gpu": Preset({"bodies": 131072}, (256,), feasible=False),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
