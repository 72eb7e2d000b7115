"""bilinear_resize: a picture of four bytes per pixel in another size, mixed from the nearest four."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Scales are those from the result to the source."""
    width, height = size["width"], size["height"]
    source_width, source_height = size["source_width"], size["source_height"]
    source = generator.integers(0, 256, (source_height, source_width, 4), dtype=np.uint8)
    scales = (source_width / width, source_height / height)

    def reference() -> dict[str, Array]:
        x0, x1, right = _places(width, source_width)
        y0, y1, lower = _places(height, source_height)
        levels = source.astype(np.float64)
        rows = levels[y0] * (1 - lower)[:, None, None] + levels[y1] * lower[:, None, None]
        mixed = rows[:, x0] * (1 - right)[:, None] + rows[:, x1] * right[:, None]
        return {"resized": np.rint(mixed).astype(np.uint8)}

    arguments = (
        *buffers("source", "resized"),
        *int32(source_width, source_height, width, height),
        *float32(*scales),
    )
    return Workload(
        buffers={"source": source, "resized": unwritten((height, width, 4), np.uint8)},
        launches=(Launch("bilinear_resize", covering((width, height), local_size), local_size, arguments),),
        outputs=("resized",),
        reference=reference,
        # Places are computed in single precision: what is about half a level may be rounded up or down.
        integer_tolerance=1,
    )


def _places(extent: int, source_extent: int) -> tuple[Array, Array, Array]:
    """For each place along an axis its two neighbours in the source, and the share of the second."""
    exact = np.clip((np.arange(extent) + 0.5) * (source_extent / extent) - 0.5, 0, source_extent - 1)
    first = exact.astype(np.int64)
    return first, np.minimum(first + 1, source_extent - 1), exact - first


BENCHMARK = judge_benchmark(
    "bilinear_resize",
    make_workload,
    {
        "test": Preset({"source_width": 31, "source_height": 27, "width": 53, "height": 41}, (16, 8)),
        "cpu": Preset({"source_width": 1003, "source_height": 801, "width": 1601, "height": 1203}, (16, 16)),
        "gpu": Preset({"source_width": 3001, "source_height": 2003, "width": 8001, "height": 5003}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
