"""rgb_to_yuv: planes of brightness and colour of packed pixels."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

# Shares of red, green and blue, in 1/65536, and what is added.
BRIGHTNESS = (19595, 38470, 7471, 0)
BLUENESS = (-11059, -21709, 32768, 128)
REDNESS = (32768, -27439, -5329, 128)
PLANES = {"brightness": BRIGHTNESS, "blueness": BLUENESS, "redness": REDNESS}


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The fourth byte of a pixel is not looked at."""
    count = size["pixels"]
    pixels = generator.integers(0, 256, (count, 4), dtype=np.uint8)

    def reference() -> dict[str, Array]:
        return {name: _plane(pixels, shares) for name, shares in PLANES.items()}

    arguments = (*buffers("pixels", *PLANES), *int32(count))
    return Workload(
        buffers={"pixels": pixels, **{name: unwritten(count, np.uint8) for name in PLANES}},
        launches=(Launch("rgb_to_yuv", covering((count,), local_size), local_size, arguments),),
        outputs=tuple(PLANES),
        reference=reference,
    )


def _plane(pixels: Array, shares: tuple[int, int, int, int]) -> Array:
    """A weighted sum of the colours, rounded to a byte."""
    sums = pixels[:, :3].astype(np.int64) @ np.array(shares[:3])
    plane: Array = np.clip(((sums + 32768) >> 16) + shares[3], 0, 255).astype(np.uint8)
    return plane


BENCHMARK = judge_benchmark(
    "rgb_to_yuv",
    make_workload,
    {
        "test": Preset({"pixels": 1001}, (64,)),
        "cpu": Preset({"pixels": 6000001}, (128,)),
        "gpu": Preset({"pixels": 100000001}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
