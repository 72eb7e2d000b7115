"""lattice_fluid: a step of a D2Q9 lattice Boltzmann fluid on a periodic height × width lattice."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

OMEGA = 1.3
# Along x and y, in the order of the planes: at rest, the four sides, the four corners.
VELOCITIES = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
OPPOSITE = (0, 3, 4, 1, 2, 7, 8, 5, 6)
SOLID_SHARE = 0.1


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The lattice is rounded up to whole work-groups; a tenth of its cells is solid."""
    width, height = covering((size["width"], size["height"]), local_size)
    before = uniform(generator, 0.05, 0.15, (len(VELOCITIES), height, width))
    solid = (generator.random((height, width)) < SOLID_SHARE).astype(np.uint8)

    def reference() -> dict[str, Array]:
        streamed = np.stack(
            [
                np.roll(plane, (y, x), axis=(0, 1))
                for plane, (x, y) in zip(before.astype(np.float64), VELOCITIES, strict=True)
            ]
        )
        return {"after": np.where(solid, streamed[list(OPPOSITE)], _relaxed(streamed)).astype(np.float32)}

    arguments = (*buffers("before", "after", "solid"), *float32(OMEGA))
    return Workload(
        buffers={"before": before, "after": unwritten(before.shape, np.float32), "solid": solid},
        launches=(Launch("lattice_fluid", (width, height), local_size, arguments),),
        outputs=("after",),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=1e-6,
    )


def _relaxed(streamed: Array) -> Array:
    """What the cells have after relaxing towards equilibrium."""
    velocities = np.array(VELOCITIES, np.float64)
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    density = streamed.sum(axis=0)
    flow = np.tensordot(velocities.T, streamed, axes=1) / density
    along = np.tensordot(velocities, flow, axes=1)
    speed = np.square(flow).sum(axis=0)
    shape = 1 + 3 * along + 4.5 * along**2 - 1.5 * speed
    equilibrium = weights[:, None, None] * density * shape
    relaxed: Array = (1 - OMEGA) * streamed + OMEGA * equilibrium
    return relaxed


BENCHMARK = judge_benchmark(
    "lattice_fluid",
    make_workload,
    {
        "test": Preset({"width": 64, "height": 32}, (16, 8)),
        "cpu": Preset({"width": 1024, "height": 768}, (16, 16)),
        "gpu": Preset({"width": 4096, "height": 4096}, (64, 4), feasible=False),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
