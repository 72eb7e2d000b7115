"""Slopes of an ocean's surface, for its light: of a field of heights, as NVIDIA's SDK has it in oceanFFT.

Each element has two results, the slopes along x and along y. Two stencils in a `SplitJoin` are one kernel, which
reads the heights once; what they put out is joined by turns, and so lies in memory as an array of `float2`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.streams import Problem, Program, answers
from coarsen.opencl_bench.streams.yardsticks import one_by_one, plain
from coarsen.stream import SplitJoin, Stencil, pipeline

# At the border of the field there is no slope.
_INSIDE = "x > 0 && y > 0 && x < width - 1 && y < height - 1"
ALONG_X = Stencil("along_x", f"{_INSIDE} ? u(1, 0) - u(-1, 0) : 0", border="0")
ALONG_Y = Stencil("along_y", f"{_INSIDE} ? u(0, 1) - u(0, -1) : 0", border="0")


def slopes(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the slopes of a field of heights; `size` is its width and its height."""
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    waves = np.random.default_rng(width).uniform(-0.3, 0.3, (20, 3))
    heights = sum(np.sin(a * x + b * y + 20 * c) for a, b, c in waves).astype(np.float32)
    own = cl.array.to_device(queue, heights)
    pairs, *apart = (cl.array.empty(queue, each * own.size, np.float32) for each in (2, 1, 1, 1, 1))
    to = {"coarsen": [pairs], "plain": apart[:2]}
    ours = partial(pipeline(SplitJoin(ALONG_X, ALONG_Y, name="slope")), queue, own, out=pairs)
    if "fusion" in without:
        to["coarsen"] = apart[2:]
        each = zip((ALONG_X, ALONG_Y), to["coarsen"], strict=True)
        ours = one_by_one(*(partial(pipeline(stencil), queue, own, out=out) for stencil, out in each))
    first, second = apart[:2]
    steps = plain(queue, "slope", size, 1, 0, own, first), plain(queue, "slope", size, 0, 1, own, second)
    runs = {"coarsen": ours, "plain": one_by_one(*steps)}
    wanted, inner = np.zeros((height, width, 2)), heights.astype(np.float64)
    wanted[1:-1, 1:-1, 0] = inner[1:-1, 2:] - inner[1:-1, :-2]
    wanted[1:-1, 1:-1, 1] = inner[2:, 1:-1] - inner[:-2, 1:-1]
    return Problem(runs, wanted, 1e-5, answers(runs, to, lambda found: np.stack(found, axis=-1)))


_SIZES = ("width", "height"), (1000, 1000), ((64, 8192), (64, 8192)), 1 << 26
PROGRAMS = {"ocean": Program(slopes, *_SIZES)}
