"""room_diffusion: a step of diffusion between insulated walls, depth × height × width points."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

ALONG_X, ALONG_Y, ALONG_Z = 0.11, 0.13, 0.07


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """x is along dimension 0; the last groups are partly outside."""
    extents = (size["width"], size["height"], size["depth"])
    before, source = (uniform(generator, low, 1, extents[::-1]) for low in (-1, 0))

    def reference() -> dict[str, Array]:
        after = np.empty_like(before)
        for z in range(len(before)):
            after[z] = _layer(before, z) + source[z]
        return {"after": after}

    arguments = (
        *buffers("before", "source", "after"),
        *int32(*extents),
        *float32(ALONG_X, ALONG_Y, ALONG_Z),
    )
    return Workload(
        buffers={"before": before, "source": source, "after": unwritten(before.shape, np.float32)},
        launches=(Launch("room_diffusion", covering(extents, local_size), local_size, arguments),),
        outputs=("after",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


def _layer(before: Array, z: int) -> Array:
    """A layer after the step; a wall is a repetition of what is before it."""
    layers = before[np.clip([z - 1, z, z + 1], 0, len(before) - 1)].astype(np.float64)
    padded = np.pad(layers[1], 1, mode="edge")
    stepped: Array = (
        layers[1]
        + ALONG_X * np.diff(padded[1:-1], 2, axis=1)
        + ALONG_Y * np.diff(padded[:, 1:-1], 2, axis=0)
        + ALONG_Z * np.diff(layers, 2, axis=0)[0]
    )
    return stepped


BENCHMARK = judge_benchmark(
    "room_diffusion",
    make_workload,
    {
        "test": Preset({"width": 37, "height": 13, "depth": 9}, (16, 4, 4)),
        "cpu": Preset({"width": 253, "height": 190, "depth": 120}, (32, 4, 2)),
        "gpu": Preset({"width": 510, "height": 509, "depth": 255}, (32, 4, 2)),
    },
    ((32, 2, 2), (64, 2, 1), (32, 4, 2), (8, 8, 4), (128, 1, 1)),
)
