"""matrixMul: products of matrices, from square ones to thin ones and to long sums."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    items_for,
    macro,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace
from coarsen.variant.variant import Variant

TILES, ELEMENTS, PARTS = range(3)
MACROS: Macros = {
    "IMPL": (TILES, ELEMENTS, PARTS),
    "TILE": (16, 8, 32),
    "MICRO": (1, 2, 4),
    "SPLIT": (4, 2, 16),
}
TILED: tuple[LocalSize, ...] = tuple((t, t // m) for t in MACROS["TILE"] for m in MACROS["MICRO"])
PLAIN: tuple[LocalSize, ...] = ((16, 16), (8, 8), (32, 8), (64, 4), (64, 1), (256, 1), (4, 16))
FINISH = 64


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch, and another that adds the parts where the sums are split."""
    height, width, inner = size["height"], size["width"], size["inner"]
    chosen = values_of(MACROS, size)
    arguments = (*buffers("left", "right"), *uint32(height, width, inner), *buffers("product", "parts"))
    if chosen["IMPL"] == TILES:
        tiles = (-(-width // chosen["TILE"]), -(-height // chosen["TILE"]))
        extents = (tiles[0] * local_size[0], tiles[1] * local_size[1])
        return (Launch("matrixMul", extents, local_size, arguments),)
    extents = (round_up(width, local_size[0]), round_up(height, local_size[1]))
    if chosen["IMPL"] == ELEMENTS:
        return (Launch("matrixMul", extents, local_size, arguments),)
    finish = (*buffers("parts"), *uint32(width * height), *buffers("product"))
    return (
        Launch("matrixMul", (*extents, chosen["SPLIT"]), (*local_size, 1), arguments),
        Launch("matrixMul_finish", items_for(width * height, 1, FINISH), (FINISH,), finish),
    )


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The parts have room for the largest number of them."""
    height, width, inner = size["height"], size["width"], size["inner"]
    left = uniform(generator, -1, 1, (height, inner))
    right = uniform(generator, -1, 1, (inner, width))

    def reference() -> dict[str, Array]:
        return {"product": (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)}

    return Workload(
        buffers={
            "left": left,
            "right": right,
            "product": unwritten((height, width), np.float32),
            "parts": unwritten(max(MACROS["SPLIT"]) * height * width, np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("product",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * inner,
    )


def _fits_the_implementation(variant: Variant) -> str | None:
    """Rule out work-groups that are not of the tile's size, and tiles where there are none."""
    tile, micro = macro(variant, "TILE"), macro(variant, "MICRO")
    if macro(variant, "IMPL") == TILES:
        if variant.local_size == (tile, tile // micro):
            return None
        return f"a tile of {tile} with {micro} rows for a work-item takes work-groups of {tile}×{tile // micro}"
    return None if variant.local_size in PLAIN else "the work-group is one for tiles"


KERNELS = (
    AdaptiveKernel(
        kernel="matrixMul",
        inputs=InputSpace(
            ranges={"height": (1, 2048), "width": (1, 2048), "inner": (4, 1 << 14)},
            limits=(
                "height * width * inner <= 16777216",
                "height * width * inner >= 32768",
                "height * width <= 262144",
                "height * inner <= 2097152",
                "width * inner <= 2097152",
            ),
            groups=32,
            corners=({"height": 256, "width": 256, "inner": 256}, {"height": 16, "width": 16, "inner": 16384}),
        ),
        test={"height": 21, "width": 37, "inner": 29},
        local_sizes=tuple(dict.fromkeys((*TILED, *PLAIN))),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "TILE", "IMPL", TILES),
            only_with(MACROS, "MICRO", "IMPL", TILES),
            only_with(MACROS, "SPLIT", "IMPL", PARTS),
            _fits_the_implementation,
            coarsened_only_with("IMPL", ELEMENTS),
        ),
        factors=(2, 4, 8),
        other_kernels=("matrixMul_finish",),
        features={
            "height": "height",
            "width": "width",
            "inner": "inner",
            "elements": "height * width",
            "work": "height * width * inner",
            "thinness": "min(height, width) / max(height, width)",
        },
    ),
)
