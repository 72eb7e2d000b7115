"""Images and grids: every element from those around it.

convolution  a height × width image of integers under a mask of floats, rounded to the nearest integer.
sobel        3 × 3 Sobel filter of a height × width image of four 8-bit channels; the border isn't
             written.
stencil      one step of a 7-point stencil on a grid of depth × height × width points, the border
             untouched.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from coarsen.opencl_bench.workloads.suite import Buffers, driver
from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers, round_up, uint32, unwritten

LEVELS = 256
# Weights are multiples of 1 / 64, so that the sums are exact and rounding is the same everywhere.
WEIGHT_DIVISOR = 64


def _make_convolution(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
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
    arguments = (*buffers("input", "mask", "output"), *uint32(width, height, mask_width, mask_height, padded[1]))
    return Workload(
        buffers={"input": image, "mask": mask, "output": unwritten((height, width), np.int32)},
        launches=(Launch("convolution", (items,), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


CONVOLUTION = Benchmark(
    name="convolution",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 37, "height": 29, "mask_width": 5, "mask_height": 3}, (192,)),
        "cpu": Preset({"width": 1280, "height": 960, "mask_width": 9, "mask_height": 7}, (128,)),
        "paper": Preset({"width": 96, "height": 64, "mask_width": 5, "mask_height": 5}, (256,)),
        "gpu": Preset({"width": 8192, "height": 8192, "mask_width": 5, "mask_height": 5}, (256,)),
    },
    make_workload=_make_convolution,
    local_sizes=((32,), (64,), (128,), (256,)),
)


ROWS_PER_STEP = 256


def _sobel(buffers: Buffers) -> Buffers:
    image, filtered = buffers["input"], buffers["output"].copy()
    height = len(image)
    for start in range(1, height - 1, ROWS_PER_STEP):
        rows = slice(start, min(start + ROWS_PER_STEP, height - 1))
        filtered[rows, 1:-1] = _gradient(image[rows.start - 1 : rows.stop + 1])
    return {"output": filtered}


def _gradient(image: Array) -> Array:
    """Half the gradient's length at the inner pixels; the filter is separated into smoothing and difference."""
    levels = image.astype(np.float64)
    smooth_columns = levels[:-2] + 2 * levels[1:-1] + levels[2:]
    smooth_rows = levels[:, :-2] + 2 * levels[:, 1:-1] + levels[:, 2:]
    gradient = np.hypot(smooth_columns[:, 2:] - smooth_columns[:, :-2], smooth_rows[2:] - smooth_rows[:-2])
    return (gradient / 2).astype(np.uint8)


SOBEL = driver("sobel", _sobel)


CENTRE_WEIGHT = 1 / 6
NEIGHBOUR_WEIGHT = 1 / 36
NEIGHBOURS = 6


def _stencil(buffers: Buffers) -> Buffers:
    grid, after = buffers["input"], buffers["output"].copy()
    for z in range(1, len(grid) - 1):
        after[z, 1:-1, 1:-1] = _stencil_step(grid[z - 1 : z + 2].astype(np.float64))
    return {"output": after}


def _stencil_step(planes: Array) -> Array:
    """The inner points of the middle one of three planes, from the second differences along each axis."""
    inner = slice(1, -1)
    centre = planes[1, inner, inner]
    second_differences = (
        np.diff(planes[:, inner, inner], 2, axis=0)[0]
        + np.diff(planes[1, :, inner], 2, axis=0)
        + np.diff(planes[1, inner, :], 2, axis=1)
    )
    stepped: Array = (
        NEIGHBOUR_WEIGHT * second_differences + (NEIGHBOURS * NEIGHBOUR_WEIGHT - CENTRE_WEIGHT) * centre
    )
    return stepped


STENCIL = driver("stencil", _stencil)
