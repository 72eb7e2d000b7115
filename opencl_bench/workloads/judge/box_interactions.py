"""box_interactions: particles of boxes on all of their own box and of the boxes around it."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import judge_benchmark

IN_BOX = 48
STEEPNESS = 0.5


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Boxes stand in a cube; those at its faces have fewer around them. A work-group has any number of items."""
    side = size["side"]
    starts, around = _boxes_around(side)
    particles = uniform(generator, 0.1, 1, (side**3, IN_BOX, 4))

    def reference() -> dict[str, Array]:
        exact = particles.astype(np.float64)
        found = [
            _sums(exact[box], exact[around[starts[box] : starts[box + 1]]].reshape(-1, 4))
            for box in range(side**3)
        ]
        return {"results": np.stack(found).astype(np.float32)}

    arguments = (*buffers("particles", "box_starts", "boxes_around", "results"), *float32(STEEPNESS))
    return Workload(
        buffers={
            "particles": particles,
            "box_starts": starts,
            "boxes_around": around,
            "results": unwritten(particles.shape, np.float32),
        },
        launches=(Launch("box_interactions", (side**3 * local_size[0],), local_size, arguments),),
        outputs=("results",),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=1e-3,
    )


def _boxes_around(side: int) -> tuple[Array, Array]:
    """Where each box's list begins, and the lists one after the other."""
    places = np.stack(np.unravel_index(np.arange(side**3), (side,) * 3), axis=1)
    lists = [np.flatnonzero((abs(places - place) <= 1).all(axis=1)) for place in places]
    starts = np.concatenate(([0], np.cumsum([len(found) for found in lists])))
    return starts.astype(np.int32), np.concatenate(lists).astype(np.int32)


def _sums(own: Array, others: Array) -> Array:
    """What acts on a box's particles, by the other ones."""
    apart = own[:, None, :3] - others[:, :3]
    weights = others[:, 3] * np.exp(-np.float32(STEEPNESS) * np.square(apart).sum(axis=2))
    directed = 2 * np.einsum("ij,ijk->ik", weights, apart)
    return np.concatenate([directed, weights.sum(axis=1, keepdims=True)], axis=1)


BENCHMARK = judge_benchmark(
    "box_interactions",
    make_workload,
    {
        "test": Preset({"side": 2}, (16,)),
        "cpu": Preset({"side": 7}, (48,)),
        "gpu": Preset({"side": 24}, (64,), feasible=False),
    },
    ((16,), (48,), (64,), (96,)),
)
