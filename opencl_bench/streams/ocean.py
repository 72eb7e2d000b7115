"""Slopes of an ocean's surface, for its light: of a field of heights, as NVIDIA's SDK has it in oceanFFT.

Each element has two results, the slopes along x and along y. Two stencils in a `SplitJoin` are one kernel, which
reads the heights once; what they put out is joined by turns, and so lies in memory as an array of `float2`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.streams import Problem, Program, Run
from coarsen.stream import SplitJoin, Stencil, pipeline

# At the border of the field there is no slope.
_INSIDE = "x > 0 && y > 0 && x < width - 1 && y < height - 1"
ALONG_X = Stencil("along_x", f"{_INSIDE} ? u(1, 0) - u(-1, 0) : 0", border="0")
ALONG_Y = Stencil("along_y", f"{_INSIDE} ? u(0, 1) - u(0, -1) : 0", border="0")

PLAIN = """
kernel void slope(int dx, int dy, global const float *heights, global float *slopes)
{
    const int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    const int i = y * width + x, step = dy * width + dx;
    const int is_inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    slopes[i] = is_inside ? heights[i + step] - heights[i - step] : 0;
}
"""


def slopes(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the slopes of a field of heights; `size` is its width and its height."""
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    waves = np.random.default_rng(width).uniform(-0.3, 0.3, (20, 3))
    heights = sum(np.sin(a * x + b * y + 20 * c) for a, b, c in waves).astype(np.float32)
    own = cl.array.to_device(queue, heights)
    both = pipeline(SplitJoin(ALONG_X, ALONG_Y, name="slope"))
    apart = pipeline(ALONG_X), pipeline(ALONG_Y)
    program, results = cl.Program(queue.context, PLAIN).build(), [cl.array.empty_like(own) for _ in range(2)]
    kernels = [cl.Kernel(program, "slope") for _ in results]

    def plain() -> list[cl.array.Array]:
        for kernel, result, dx in zip(kernels, results, (1, 0), strict=True):
            kernel(queue, size, None, np.int32(dx), np.int32(1 - dx), own.data, result.data)
        return results

    def ours() -> Any:  # noqa: ANN401 (one array, or two)
        return [each(queue, own) for each in apart] if "fusion" in without else both(queue, own)

    def joined(run: Run) -> Any:  # noqa: ANN401 (an array)
        found = run()
        return np.stack([each.get() for each in found], axis=-1) if isinstance(found, list) else found

    wanted, inner = np.zeros((height, width, 2)), heights.astype(np.float64)
    wanted[1:-1, 1:-1, 0] = inner[1:-1, 2:] - inner[1:-1, :-2]
    wanted[1:-1, 1:-1, 1] = inner[2:, 1:-1] - inner[:-2, 1:-1]
    runs: dict[str, Run] = {"coarsen": ours, "plain": plain}
    return Problem(runs, wanted, 1e-5, answers={name: lambda run=run: joined(run) for name, run in runs.items()})


PROGRAMS = {"ocean": Program(("width", "height"), (1000, 1000), (64, 64), (8192, 8192), 1 << 26, slopes)}
