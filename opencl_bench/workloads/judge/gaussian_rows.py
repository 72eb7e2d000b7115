"""gaussian_rows: a Gaussian blur along the rows of a height × width picture of four channels."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Weights fall with the distance, and add up to 1 over both sides."""
    width, height, radius = size["width"], size["height"], size["radius"]
    image = uniform(generator, 0, 1, (height, width, 4))
    bell = np.exp(-2 * np.square(np.arange(radius + 1) / radius))
    weights = (bell / (2 * bell.sum() - bell[0])).astype(np.float32)

    def reference() -> dict[str, Array]:
        padded = np.pad(image, ((0, 0), (radius, radius), (0, 0)), mode="edge")
        blurred = np.zeros(image.shape)
        for shift in range(2 * radius + 1):
            blurred += weights[abs(shift - radius)] * padded[:, shift : shift + width].astype(np.float64)
        return {"blurred": blurred.astype(np.float32)}

    arguments = (*buffers("image", "blurred", "weights"), *int32(radius, width, height))
    return Workload(
        buffers={"image": image, "blurred": unwritten(image.shape, np.float32), "weights": weights},
        launches=(Launch("gaussian_rows", covering((width, height), local_size), local_size, arguments),),
        outputs=("blurred",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


BENCHMARK = judge_benchmark(
    "gaussian_rows",
    make_workload,
    {
        "test": Preset({"width": 53, "height": 21, "radius": 3}, (16, 8)),
        "cpu": Preset({"width": 1281, "height": 723, "radius": 6}, (16, 16)),
        "gpu": Preset({"width": 4001, "height": 4003, "radius": 8}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
