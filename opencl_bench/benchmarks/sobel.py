"""sobel: 3 × 3 Sobel filter of a height × width image of four 8-bit channels; the border isn't written."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate

from ..benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from ..driver_tools import buffers, unwritten, whole_groups

# A wider range of levels could give a gradient above 255, whose conversion OpenCL leaves to the device.
DARKEST, BRIGHTEST = 130, 219

# Rows × columns; a last axis of one element keeps the channels apart.
GRADIENT = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], np.float64)[:, :, None]


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Width is along dimension 0, height along dimension 1."""
    width, height = whole_groups(size, ("width", "height"), local_size)
    image = generator.integers(DARKEST, BRIGHTEST + 1, (height, width, 4), dtype=np.uint8)
    before = unwritten((height, width, 4), np.uint8)

    def reference() -> dict[str, Array]:
        levels = image.astype(np.float64)
        gradient = np.hypot(correlate(levels, GRADIENT), correlate(levels, GRADIENT.swapaxes(0, 1))) / 2
        filtered = before.copy()
        filtered[1:-1, 1:-1] = gradient[1:-1, 1:-1].astype(np.uint8)
        return {"output": filtered}

    return Workload(
        buffers={"input": image, "output": before},
        launches=(Launch("sobel", (width, height), local_size, buffers("input", "output")),),
        outputs=("output",),
        reference=reference,
        # Where the gradient is a whole number, the last bit of hypot decides where it is truncated to.
        integer_tolerance=1,
    )


BENCHMARK = Benchmark(
    name="sobel",
    dimensions=(0, 1),
    presets={
        "test": Preset({"width": 96, "height": 64}, (32, 32)),
        "cpu": Preset({"width": 1536, "height": 1024}, (16, 16)),
        "paper": Preset({"width": 1024, "height": 1024}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=make_workload,
)
