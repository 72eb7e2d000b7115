"""convolutionSeparable: an image smoothed along rows and columns, in two passes or in one, by radius and shape."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import FLOAT_BYTES, AdaptiveKernel, Macros, values_of
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

STAGED, DIRECT, AT_ONCE = range(3)
MACROS: Macros = {"IMPL": (STAGED, DIRECT, AT_ONCE), "EACH": (8, 1, 2, 4)}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Rows and columns, or one launch for both."""
    width, height, radius = size["width"], size["height"], size["radius"]
    chosen = values_of(MACROS, size)
    group_x, group_y = local_size
    each = chosen["EACH"]
    numbers = uint32(width, height, radius)
    extents = (_covered(width, group_x, each), round_up(height, group_y))
    staged = LocalArgument(FLOAT_BYTES * (group_x * each + 2 * radius) * group_y)
    arguments = (*buffers("image", "weights"), *numbers, *buffers("rows", "output"), staged)
    first = Launch("convolutionSeparable", extents, local_size, arguments)
    if chosen["IMPL"] == AT_ONCE:
        return (first,)
    extents = (round_up(width, group_x), _covered(height, group_y, each))
    staged = LocalArgument(FLOAT_BYTES * (group_y * each + 2 * radius) * group_x)
    arguments = (*buffers("rows", "weights"), *numbers, *buffers("output"), staged)
    return first, Launch("convolutionSeparable_columns", extents, local_size, arguments)


def _covered(extent: int, group: int, each: int) -> int:
    """The work-items of whole groups that cover an extent with so many pixels each."""
    return round_up(extent, group * each) // each


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The weights add up to 1 at most."""
    width, height, radius = size["width"], size["height"], size["radius"]
    image = uniform(generator, -1, 1, (height, width))
    weights = uniform(generator, 0, 1, 2 * radius + 1) / np.float32(2 * radius + 1)

    def reference() -> dict[str, Array]:
        wide = image.astype(np.float64)
        for axis in (0, 1):
            wide = np.apply_along_axis(np.convolve, axis, wide, weights[::-1].astype(np.float64))
        return {"output": wide[radius : radius + height, radius : radius + width].astype(np.float32)}

    return Workload(
        buffers={
            "image": image,
            "weights": weights,
            "rows": unwritten((height, width), np.float32),
            "output": unwritten((height, width), np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("output",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="convolutionSeparable",
        inputs=InputSpace(
            ranges={"width": (16, 4096), "height": (16, 4096), "radius": (1, 12)},
            limits=(
                "width * height <= 1000000",
                "width * height * radius >= 8192",
                "width * height * radius * radius <= 8000000",
            ),
            groups=32,
        ),
        test={"width": 75, "height": 50, "radius": 3},
        local_sizes=((16, 4), (32, 4), (64, 2), (128, 1), (8, 8), (64, 4)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        other_kernels=("convolutionSeparable_columns",),
        features={"width": "width", "height": "height", "pixels": "width * height", "radius": "radius"},
    ),
)
