"""sobel: 3 × 3 Sobel filter of a height × width image of four 8-bit channels; the border isn't written."""

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
from coarsen.opencl_bench.workloads.driver_tools import buffers, unwritten, whole_groups

# A wider range of levels could give a gradient above 255, whose conversion OpenCL leaves to the device.
DARKEST, BRIGHTEST = 130, 219

ROWS_PER_STEP = 256


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Width is along dimension 0, height along dimension 1."""
    width, height = whole_groups(size, ("width", "height"), local_size)
    image = generator.integers(DARKEST, BRIGHTEST + 1, (height, width, 4), dtype=np.uint8)
    before = unwritten((height, width, 4), np.uint8)

    def reference() -> dict[str, Array]:
        filtered = before.copy()
        for start in range(1, height - 1, ROWS_PER_STEP):
            rows = slice(start, min(start + ROWS_PER_STEP, height - 1))
            filtered[rows, 1:-1] = _gradient(image[rows.start - 1 : rows.stop + 1])
        return {"output": filtered}

    return Workload(
        buffers={"input": image, "output": before},
        launches=(Launch("sobel", (width, height), local_size, buffers("input", "output")),),
        outputs=("output",),
        reference=reference,
        # Where the gradient is a whole number, the last bit of hypot decides where it is truncated to.
        integer_tolerance=1,
    )


def _gradient(image: Array) -> Array:
    """Half the gradient's length at the inner pixels; the filter is separated into smoothing and difference."""
    levels = image.astype(np.float64)
    smooth_columns = levels[:-2] + 2 * levels[1:-1] + levels[2:]
    smooth_rows = levels[:, :-2] + 2 * levels[:, 1:-1] + levels[:, 2:]
    gradient = np.hypot(smooth_columns[:, 2:] - smooth_columns[:, :-2], smooth_rows[2:] - smooth_rows[:-2])
    return (gradient / 2).astype(np.uint8)


BENCHMARK = Benchmark(
    name="sobel",
    dimensions=(0, 1),
    presets={
        "test": Preset({"width": 96, "height": 64}, (32, 32)),
        "cpu": Preset({"width": 1536, "height": 1024}, (16, 16)),
        "paper": Preset({"width": 1024, "height": 1024}, (16, 16)),
        "gpu": Preset({"width": 8192, "height": 8192}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=make_workload,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)
