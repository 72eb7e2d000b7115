"""transpose: naive, of matrices from long rows to long columns; versions differ in work-groups and coarsening."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel, Macros, values_of
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

MACROS: Macros = {"IMPL": (0, 1)}
# Conflicts in caches come from widths that are multiples of this many elements.
CONFLICTS = 512


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One work-item per element; which dimension is which depends on the implementation."""
    width, height = size["width"], size["height"]
    extents = (width, height) if values_of(MACROS, size)["IMPL"] == 0 else (height, width)
    covered = tuple(round_up(extent, items) for extent, items in zip(extents, local_size, strict=True))
    arguments = (*buffers("output", "input"), *uint32(width, height))
    return (Launch("transpose", covered, local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The result is exact."""
    return transposed(size, make_launches(size, local_size), generator)


def transposed(size: Size, launches: tuple[Launch, ...], generator: np.random.Generator) -> Workload:
    """The workload of some launches that transpose `input` into `output`."""
    matrix = uniform(generator, -1, 1, (size["height"], size["width"]))

    def reference() -> dict[str, Array]:
        return {"output": matrix.T.copy()}

    return Workload(
        buffers={"output": unwritten((size["width"], size["height"]), np.float32), "input": matrix},
        launches=launches,
        outputs=("output",),
        reference=reference,
    )


INPUTS = InputSpace(
    ranges={"width": (16, 1 << 16), "height": (16, 1 << 16)},
    limits=("width * height <= 4194304", "width * height >= 4096"),
    groups=32,
    corners=(
        {"width": 2048, "height": 2048},
        {"width": 2047, "height": 2047},
        {"width": 2049, "height": 2040},
        {"width": 4096, "height": 512},
        {"width": 512, "height": 4096},
    ),
)
FEATURES = {
    "width": "width",
    "height": "height",
    "elements": "width * height",
    "aspect": "width / height",
    "width_in_page": f"width % {CONFLICTS}",
    "height_in_page": f"height % {CONFLICTS}",
}

KERNELS = (
    AdaptiveKernel(
        kernel="transpose",
        inputs=INPUTS,
        test={"width": 75, "height": 50},
        local_sizes=((16, 16), (8, 8), (32, 8), (64, 4), (4, 64), (256, 1), (1, 256)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        factors=(2, 4, 8),
        features=FEATURES,
    ),
)
