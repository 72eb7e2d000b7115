"""Slopes of an ocean's surface, for its light: of a field of heights, as NVIDIA's SDK has it in oceanFFT.

Each element has two results, the slopes along x and along y. Two stencils in a `SplitJoin` are one kernel, which
reads the heights once; what they put out is joined by turns, and so lies in memory as an array of `float2`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, left_in, plain
from coarsen.stream import SplitJoin, Stencil, pipeline

# At the border of the field there is no slope.
_INSIDE = "x > 0 && y > 0 && x < width - 1 && y < height - 1"
ALONG_X = Stencil("along_x", f"{_INSIDE} ? u(1, 0) - u(-1, 0) : 0", border="0")
ALONG_Y = Stencil("along_y", f"{_INSIDE} ? u(0, 1) - u(0, -1) : 0", border="0")


def slopes(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the slopes of a field of heights; `size` is its width and its height."""
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    waves = np.random.default_rng(width).uniform(-0.3, 0.3, (20, 3))
    heights = np.sum([np.sin(a * x + b * y + 20 * c) for a, b, c in waves], axis=0).astype(np.float32)
    own = cl.array.to_device(queue, heights)
    both, *apart = (cl.array.empty(queue, each * own.size, np.float32) for each in (2, 1, 1))
    wanted, inner = np.zeros((height, width, 2)), heights.astype(np.float64)
    wanted[1:-1, 1:-1, 0] = inner[1:-1, 2:] - inner[1:-1, :-2]
    wanted[1:-1, 1:-1, 1] = inner[2:, 1:-1] - inner[:-2, 1:-1]

    def read(found: list[Any]) -> Any:  # noqa: ANN401 (an array)
        return np.stack(found, axis=-1).reshape(wanted.shape)

    ours = left_in(
        [both], partial(pipeline(SplitJoin(ALONG_X, ALONG_Y, name="slope")), queue, own, out=both), read=read
    )
    if "fusion" in without:
        steps = zip((ALONG_X, ALONG_Y), apart, strict=True)
        ours = left_in(apart, *(partial(pipeline(each), queue, own, out=to) for each, to in steps), read=read)
    others = [plain(queue, "slope", size, dx, 1 - dx, own, to) for dx, to in zip((1, 0), apart, strict=True)]
    return Problem({"coarsen": ours, "plain": left_in(apart, *others, read=read)}, wanted, 1e-5)


PROGRAMS = {"ocean": Program(slopes, {"width": 1000, "height": 1000}, ((64, 8192), (64, 8192)), 1 << 26)}
