"""convolution: a height × width image of integers under a mask of floats, rounded to the nearest integer."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, unwritten

LEVELS = 256
# Weights are multiples of 1 / 64, so that the sums are exact and rounding is the same everywhere.
WEIGHT_DIVISOR = 64


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The input is padded by the mask's extents minus one; the NDRange goes beyond the last pixel."""
    width, height = size["width"], size["height"]
    mask_width, mask_height = size["mask_width"], size["mask_height"]
    padded = (height + mask_height - 1, width + mask_width - 1)
    image = generator.integers(0, LEVELS, padded, dtype=np.uint32)
    numerators = generator.integers(0, WEIGHT_DIVISOR, (mask_height, mask_width))
    mask = (numerators / WEIGHT_DIVISOR).astype(np.float32)

    def reference() -> dict[str, Array]:
        windows = sliding_window_view(image.astype(np.float64), mask.shape)
        sums = np.einsum("yxji,ji->yx", windows, mask.astype(np.float64))
        return {"output": np.floor(sums + 0.5).astype(np.int32)}

    items = round_up(width * height, local_size[0])
    arguments = (
        *buffers("input", "mask", "output"),
        *uint32(width, height, mask_width, mask_height, padded[1]),
    )
    return Workload(
        buffers={"input": image, "mask": mask, "output": unwritten((height, width), np.int32)},
        launches=(Launch("convolution", (items,), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


BENCHMARK = Benchmark(
    name="convolution",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 37, "height": 29, "mask_width": 5, "mask_height": 3}, (192,)),
        "cpu": Preset({"width": 1280, "height": 960, "mask_width": 9, "mask_height": 7}, (128,)),
        "paper": Preset({"width": 96, "height": 64, "mask_width": 5, "mask_height": 5}, (256,)),
        "gpu": Preset({"width": 8192, "height": 8192, "mask_width": 5, "mask_height": 5}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
