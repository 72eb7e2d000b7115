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

from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import (
    buffers,
    float32,
    round_up,
    uint32,
    uniform,
    unwritten,
    whole_groups,
)

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


CONVOLUTION = Benchmark(
    name="convolution",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 37, "height": 29, "mask_width": 5, "mask_height": 3}, (192,)),
        "cpu": Preset({"width": 1280, "height": 960, "mask_width": 9, "mask_height": 7}, (128,)),
        "paper": Preset({"width": 96, "height": 64, "mask_width": 5, "mask_height": 5}, (256,)),
        "gpu": Preset({"width": 8192, "height": 8192, "mask_width": 5, "mask_height": 5}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=_make_convolution,
    local_sizes=((32,), (64,), (128,), (256,)),
)


# A wider range of levels could give a gradient above 255, whose conversion OpenCL leaves to the device.
DARKEST, BRIGHTEST = 130, 219

ROWS_PER_STEP = 256


def _make_sobel(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
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


SOBEL = Benchmark(
    name="sobel",
    dimensions=(0, 1),
    presets={
        "test": Preset({"width": 96, "height": 64}, (32, 32)),
        "cpu": Preset({"width": 1536, "height": 1024}, (16, 16)),
        "paper": Preset({"width": 1024, "height": 1024}, (16, 16)),
        "gpu": Preset({"width": 8192, "height": 8192}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=_make_sobel,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)


# stencil: one step of a 7-point stencil on a grid of depth × height × width points, the border untouched.
#
# The presets' extents count the inner points, one less on each side; those along y and z are rounded up to whole
# work-groups, those along x are guarded.

CENTRE_WEIGHT = 1 / 6
NEIGHBOUR_WEIGHT = 1 / 36
NEIGHBOURS = 6


def _make_stencil(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """x is along dimension 0, y along dimension 1, z along dimension 2."""
    items = whole_groups(size, ("inner_x", "inner_y", "inner_z"), local_size)
    width, height, depth = size["inner_x"] + 2, items[1] + 2, items[2] + 2
    grid = uniform(generator, -1, 1, (depth, height, width))
    before = unwritten(grid.shape, np.float32)

    def reference() -> dict[str, Array]:
        after = before.copy()
        for z in range(1, depth - 1):
            after[z, 1:-1, 1:-1] = _stencil_step(grid[z - 1 : z + 2].astype(np.float64))
        return {"output": after}

    arguments = (
        *float32(CENTRE_WEIGHT, NEIGHBOUR_WEIGHT),
        *buffers("input", "output"),
        *uint32(width, height),
    )
    return Workload(
        buffers={"input": grid, "output": before},
        launches=(Launch("stencil", items, local_size, arguments),),
        outputs=("output",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


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


STENCIL = Benchmark(
    name="stencil",
    dimensions=(0, 1, 2),
    presets={
        "test": Preset({"inner_x": 50, "inner_y": 8, "inner_z": 6}, (32, 4, 2)),
        "cpu": Preset({"inner_x": 506, "inner_y": 256, "inner_z": 128}, (32, 2, 1)),
        # The paper's 510 × 62 would be rounded up to different extents for different work-groups.
        "paper": Preset({"inner_x": 3000, "inner_y": 512, "inner_z": 64}, (64, 2, 1)),
        "gpu": Preset({"inner_x": 1022, "inner_y": 512, "inner_z": 256}, (64, 2, 1)),
    },
    divisible_local_sizes={0: (192, 2, 2), 1: (2, 192, 2), 2: (2, 2, 64)},
    make_workload=_make_stencil,
    local_sizes=((32, 2, 1), (64, 2, 1), (128, 1, 1), (32, 4, 2), (8, 8, 4)),
)
