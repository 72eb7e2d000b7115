"""transposeCo: by tiles in local memory, of matrices from long rows to long columns."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive import transpose
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel, Macros, macro, values_of
from coarsen.opencl_bench.workloads.benchmark import Launch, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.variant.variant import Variant

MACROS: Macros = {"IMPL": (0, 1), "TILE": (16, 8, 32, 64), "ROWS": (1, 2, 4, 8), "PAD": (1, 0)}
MOST_ITEMS = 1024
LOCAL_SIZES: tuple[LocalSize, ...] = tuple(
    (t, t // r) for t in MACROS["TILE"] for r in MACROS["ROWS"] if t * t // r <= MOST_ITEMS
)


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """A work-group for each tile."""
    width, height = size["width"], size["height"]
    tile = values_of(MACROS, size)["TILE"]
    tiles_x, tiles_y = -(-width // tile), -(-height // tile)
    arguments = (*buffers("output", "input"), *uint32(width, height))
    return (Launch("transposeCo", (tiles_x * local_size[0], tiles_y * local_size[1]), local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """As `transpose` has it."""
    return transpose.transposed(size, make_launches(size, local_size), generator)


def _is_of_the_tile(variant: Variant) -> str | None:
    """Rule out work-groups that are not of the tile's size."""
    tile, rows = macro(variant, "TILE"), macro(variant, "ROWS")
    if variant.local_size == (tile, tile // rows):
        return None
    return f"a tile of {tile} with {rows} rows for a work-item takes work-groups of {tile}×{tile // rows}"


KERNELS = (
    AdaptiveKernel(
        kernel="transposeCo",
        inputs=transpose.INPUTS,
        test={"width": 75, "height": 50},
        local_sizes=LOCAL_SIZES,
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(_is_of_the_tile,),
        features=transpose.FEATURES,
    ),
)
